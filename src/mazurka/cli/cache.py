"""`mazurka cache`: where the cache is, how large it is, and how to empty it."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from mazurka.cli import arguments as args
from mazurka.cli.failures import guarded

EPILOG = "Example: mazurka cache --clear"


def show_cache(
    clear: Annotated[
        bool, args.option("--clear", "Remove all files of the cache, of every version of Mazurka.")
    ] = False,
) -> int:
    """Show where the cache is and how large it is.

    It contains the compiled engine and rewritten sources of tests, which are made again when they
    are needed. Exit status: 0, or 3 if a file could not be removed.
    """

    def action() -> int:
        from mazurka.cache_folder import find_cache, find_entries, why_no_cache
        from mazurka.report.answer import EXIT_STATUS, HOLDS, INCONCLUSIVE
        from mazurka.report.terminal import safe
        from mazurka.report.words import counted

        cache = find_cache()
        if cache is None:
            print(f"there is no cache: {safe(why_no_cache())}")
            return EXIT_STATUS[HOLDS]
        sizes, left = [], []
        for path in find_entries(cache.folder):
            try:
                with suppress(FileNotFoundError):  # another process may remove the same
                    size = path.lstat().st_size
                    if clear:
                        path.unlink()
                    sizes.append(size)
            except OSError as error:
                left.append(f"{path}: {error.strerror}")
        done = "removed " if clear else ""
        size_text = f"{counted(len(sizes), 'file')}, {sum(sizes) / 1e6:.1f} MB"
        print(f"{safe(str(cache.folder))}: {done}{size_text}")
        for reason in left:
            print(f"not removed: {safe(reason)}")
        return EXIT_STATUS[INCONCLUSIVE if left else HOLDS]

    return guarded(action, as_json=False)
