"""How accesses are made visible: code is rewritten, exchanged, and put back.

A module, function or class is *observed* if its code reports its accesses (`python.events`).  The
way of a function through this package:

- `selection` decides by name and file which modules are observed;
- `sources` rewrites their source files (`source`), each once a process, and finds the rewritten
  code of a function there; for functions without source, instructions are rewritten (`bytecode`);
- `live_functions` finds the functions of a module, wherever they are held, and those whose
  namespace is no module's;
- `exchange` gives them the new code, and everything its own again when the exploration ends;
- `observed_code` puts this together, and rewrites what turns up meanwhile: modules that are
  imported, code that `exec` runs, classes that functions make.

Special cases have files of their own: `library` (parts of the standard library that reach into what
they are given), `generated` (methods that `dataclasses` and `attrs` make).  `named_objects` names
what exists before the first run.
"""
