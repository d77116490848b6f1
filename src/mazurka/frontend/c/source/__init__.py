"""From preprocessed text to the syntax tree: libclang's cursors, types, and places in files."""
