; Made by scripts/editor-grammars. No two patterns take the same text, so that their order does not count.
(comment) @comment
["\"" (text)] @string
(placeholder) @string.special
[(number) (quantity) (percent) (ratio) (dimensions) (money)] @constant.numeric
(address) @constant.numeric
(hole) @constant.builtin
(kind) @type.builtin
(type) @type
["as" "use"] @keyword.control.import
["def"] @keyword.function
["else" "if"] @keyword.control.conditional
["for"] @keyword.control.repeat
["and" "in" "not" "or"] @keyword.operator
["active" "all" "among" "any" "at" "by" "circuit" "connect" "degree" "extend" "from" "intact" "job" "let" "model" "naming" "network" "of" "omit" "over" "override" "param" "phase" "place" "report" "require" "seed" "shift" "through" "tier" "to" "topology" "total" "under" "uneven" "via" "where" "with" "x"] @keyword
(manner) @keyword
["%" "*" "**" "+" "-" ".." "/" "//" "="] @operator
(comparator) @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," "." ":" ";"] @punctuation.delimiter
(use from: (dotted (name) @namespace))
(import [name: (name) alias: (name)] @type)
(param name: (name) @variable.parameter)
(formal name: (name) @variable.parameter)
(let name: (name) @variable)
(for name: (name) @variable)
(comprehension name: (name) @variable)
(def name: (name) @function)
(topology name: (name) @function)
(model name: (name) @type)
(declaration name: (name) @label)
(declaration model: (path . (name) @type .))
(tier name: (name) @label)
(tier model: (name) @type)
(setting name: (name) @variable.other.member)
(pattern name: (name) @function.builtin)
(claim name: (name) @function.method)
(path . (name) @function . (call))
(dot name: (name) @variable.other.member)
