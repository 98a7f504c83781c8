"""Commands of the command line, one file each: a module's ``command`` is found by being there."""
