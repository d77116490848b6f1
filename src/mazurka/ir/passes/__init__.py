"""The passes that turn a front end's raw program into one that can be searched, one per file."""
