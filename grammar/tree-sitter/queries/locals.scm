[(module) (block) (def) (topology) (comprehension)] @local.scope
(param name: (name) @local.definition)
(let name: (name) @local.definition)
(formal name: (name) @local.definition)
(for name: (name) @local.definition)
(comprehension name: (name) @local.definition)
(path . (name) @local.reference)
