"""Functions of the library and of the compiler, by subject; importing a module registers them."""
