[(use) (formals) (block) (list) (call)] @fold
