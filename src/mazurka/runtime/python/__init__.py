"""What Python code does to data: attributes, containers, iteration, calls.

Enter by `events`: the interface that rewritten code calls.  Below it, from the bottom up:

| module | subject |
|---|---|
| `catalogue` | what library and C functions, methods and types do: tables, no behaviour |
| `containers`, `opaque` | accesses to containers, and to objects whose state only C code sees |
| `reentry`, `wrappers` | C code that enters Python code; objects of C code that wrap others |
| `attributes`, `variables` | where attributes live; accesses to attributes and variables |
| `callbacks` | C code that calls back into Python, as several operations |
| `calls` | what is called instead of a function; who performs the effects of the catalogue |
| `deep` | operations that reach into containers inside of containers |
| `iteration` | steps of loops; iterators that the program holds as values; the order of sets |
| `places` | what threads share and no object stands for: files, settings of the process |
| `methods`, `expressions` | methods of containers; subscripts, operators and tests |
| `frames` | events of rewritten instructions, which find names in the frame of their caller |
| `reflection`, `functions` | performers of effects: attributes by name, calls of C code |
| `library` | performers of effects: models of parts of the standard library |
| `rewriter` | what this room asks of those who rewrite code |
"""
