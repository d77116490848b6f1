"""How accesses are made visible: rewriting source and bytecode, and putting both back."""
