"""What every front end needs to turn source code into a `mazurka.ir` program.

The kit knows nothing of any source language.  A front end parses a file, decides what its names
stand for, and calls the kit with source positions (`Span`), operands (IR expressions) and shapes.
"""
