"""`nox -s tests-3.15` runs the tests of real threads on that version of Python.

There is a session for each supported version, and one such as `tests-3.14t` for each free-threaded
build; the interpreter must be installed.  `.ci/other_pythons.py` runs the same tests.
"""

import runpy

import nox

LISTS = runpy.run_path("src/mazurka/supported_pythons.py")
VERSIONS = [f"{major}.{minor}" for major, minor in LISTS["SUPPORTED"]]
VERSIONS += [f"{major}.{minor}t" for major, minor in LISTS["FREE_THREADED"]]

nox.needs_version = ">=2024.10.9"
nox.options.error_on_missing_interpreters = True


@nox.session(python=VERSIONS)
def tests(session: nox.Session) -> None:
    """Run the tests that tests/real_threads.txt lists."""
    session.install("-e", ".[test-threads]")
    session.run("pytest", "-n", "auto", "@tests/real_threads.txt", *session.posargs)
