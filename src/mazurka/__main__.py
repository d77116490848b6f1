"""`python -m mazurka` is the `mazurka` command, and this is where both begin."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; Ctrl-C is an answer (inconclusive) even while it is still being loaded."""
    try:
        from mazurka.cli.main import main as run
        from mazurka.deadline import note_command_start

        note_command_start()

        run()
    except KeyboardInterrupt:
        sys.stderr.write("mazurka: interrupted\n")
        sys.exit(3)
    finally:
        # If the interrupt came inside of an `exec` of a text, as those by which classes are made
        # while modules are loaded, Python would die of the signal at its end, though the exception
        # has been caught; running another text lets it forget that.
        exec("")


if __name__ == "__main__":
    main()
