"""How accesses are made visible: code is rewritten, exchanged, and put back.

A module, function or class is *observed* if its code reports its accesses (`python.events`).  The
way of a function through this package:

- `selection` decides by name and file which modules are observed from the start, and which never;
- `on_demand` lets all others be observed when a thread enters them, by `traps` in their functions;
- `sources` rewrites source files (`source`), each once a process and kept on disk
  (`cached_sources`), and finds the rewritten code of a function there; for functions without
  source, instructions are rewritten (`bytecode`);
- `live_functions` knows all functions of the process, wherever they are held;
- `exchange` gives them the new code, and everything its own again when the exploration ends;
- `observed_code` puts this together, and rewrites what turns up meanwhile: modules that are
  imported, code that `exec` runs, classes that functions make.

Special cases have files of their own: `library` (modules of which only parts are
observed), `generated` (methods that `dataclasses` and `attrs` make).  `named_objects` names
what exists before the first run.
"""
