[(use) (formals) (shape) (block) (list) (comprehension) (paren) (tuple) (index) (call)] @indent
["}" "]" ")"] @outdent
