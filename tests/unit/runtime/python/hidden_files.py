"""Files, folders, locks on files and databases, in which threads meet.

Programs for `test_hidden_accesses`; see there for how they are written.
"""

from __future__ import annotations

_HEAD = """
class folder:
    def __enter__(self):
        os.mkdir(PLACE)
        return PLACE
    def __exit__(self, *error):
        pass
PLACE = os.path.join(os.path.dirname(__file__), "place")
def put(path, text):
    with open(path, "w") as file:
        file.write(text)
def get(path):
    with open(path) as file:
        return file.read()
"""
_IMPORTS = ("fcntl", "pathlib", "shutil")
_BODIES = {
    "an update of a file": """
with folder() as place:
    path = os.path.join(place, "n")
    put(path, "0")
    def work():
        with GUARD:
            n = int(get(path) or "0")
            put(path, str(n + 1))
    together(work, work)
    assert get(path) == "2"
""",
    "an update by methods of a path": """
with folder() as place:
    path = pathlib.Path(place) / "n"
    path.write_text("0")
    def work():
        with GUARD:
            path.write_text(str(int(path.read_text() or "0") + 1))
    together(work, work)
    assert path.read_text() == "2"
""",
    "a folder that is missing": """
with folder() as place:
    path = os.path.join(place, "cache")
    def work():
        with GUARD:
            if not os.path.exists(path):
                os.mkdir(path)
    together(work, work)
""",
    "a file that only one may create": """
with folder() as place:
    path = pathlib.Path(place) / "x"
    def work():
        with GUARD:
            if not path.is_file():
                path.touch(exist_ok=False)
    together(work, work)
""",
    "a file that only one can remove": """
with folder() as place:
    path = os.path.join(place, "x")
    put(path, "")
    def work():
        with GUARD:
            if os.path.exists(path):
                os.remove(path)
    together(work, work)
""",
    "what is in a folder": """
with folder() as place:
    def work():
        with GUARD:
            for name in os.listdir(place):
                os.remove(os.path.join(place, name))
    put(os.path.join(place, "x"), "")
    together(work, work)
""",
    "what a pattern finds": """
with folder() as place:
    place = pathlib.Path(place)
    (place / "x.txt").touch()
    def work():
        with GUARD:
            for path in place.glob("*.txt"):
                path.unlink()
    together(work, work)
""",
    "a folder that another one moves": """
with folder() as place:
    old, new = os.path.join(place, "old"), os.path.join(place, "new")
    os.mkdir(old)
    def move():
        with GUARD:
            os.rename(old, new)
            os.rename(new, old)
    def work():
        with GUARD:
            put(os.path.join(old, "x"), "1")
    together(move, work)
""",
    "a tree that is removed twice": """
with folder() as place:
    tree = pathlib.Path(place) / "tree"
    tree.mkdir()
    (tree / "x").touch()
    def work():
        with GUARD:
            if tree.exists():
                shutil.rmtree(tree)
    together(work, work)
""",
    "a file that is half written": """
with folder() as place:
    path = os.path.join(place, "x")
    put(path, "old")
    def work():
        with GUARD:
            put(path, "new")
    def read():
        with GUARD:
            assert get(path) in ("old", "new")
    together(work, read)
""",
    "the size of a file": """
with folder() as place:
    path, got = os.path.join(place, "x"), []
    put(path, "")
    def work():
        with GUARD:
            put(path, "a")
            put(path, "")
    def ask():
        with GUARD:
            got.append(os.path.getsize(path))
    together(work, ask)
    assert got == [0]
""",
    "one file object": """
with folder() as place:
    with open(os.path.join(place, "x"), "w+") as file:
        def work():
            with GUARD:
                file.write("a")
                file.write("b")
        together(work, work)
        file.seek(0)
        assert file.read() == "abab"
""",
    "one descriptor": """
with folder() as place:
    file = os.open(os.path.join(place, "x"), os.O_RDWR | os.O_CREAT)
    def work():
        with GUARD:
            os.lseek(file, 0, os.SEEK_SET)
            n = int(os.read(file, 9) or b"0")
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, b"%d" % (n + 1))
    together(work, work)
    n = os.pread(file, 9, 0)
    os.close(file)
    assert n == b"2"
""",
    "lines that are printed to a file": """
with folder() as place:
    path = os.path.join(place, "x")
    def work():
        with GUARD:
            with open(path, "a") as file:
                print("a", file=file, flush=True)
                print("b", file=file)
    together(work, work)
    assert get(path) == "a\\nb\\na\\nb\\n"
""",
    "lines of a file that grows": """
with folder() as place:
    path, got = os.path.join(place, "x"), []
    put(path, "a\\n")
    def work():
        with GUARD:
            with open(path, "a") as file:
                file.write("b\\n")
            put(path, "a\\n")
    def read():
        with GUARD:
            with open(path) as file:
                got.extend(line for line in file)
    together(work, read)
    assert got == ["a\\n"]
""",
    "a file that was moved while it is open": """
with folder() as place:
    old, new = os.path.join(place, "old"), os.path.join(place, "new")
    put(old, "")
    got = []
    with open(old, "a") as file:
        os.rename(old, new)
        def work():
            with GUARD:
                file.write("a")
                file.flush()
                file.truncate(0)
        def read():
            with GUARD:
                got.append(get(new))
        together(work, read)
    assert got == [""]
""",
    "where a symbolic link leads": """
with folder() as place:
    link, one, other = (os.path.join(place, name) for name in ("link", "one", "other"))
    put(one, "1")
    put(other, "2")
    os.symlink(one, link)
    def move():
        with GUARD:
            os.remove(link)
            os.symlink(other, link)
    def read():
        with GUARD:
            get(link)
    together(move, read)
""",
    "a path below the current directory": """
with folder() as place, contextlib.chdir(place):
    os.mkdir("sub")
    def move():
        with GUARD:
            os.chdir("sub")
            os.chdir(place)
    def work():
        with GUARD:
            put("x", "1")
    together(move, work)
    assert os.path.exists(os.path.join(place, "x"))
""",
    "a copy of a file": """
with folder() as place:
    one, other = os.path.join(place, "one"), os.path.join(place, "other")
    put(one, "1")
    def work():
        with GUARD:
            put(one, "2")
    def copy():
        with GUARD:
            shutil.copyfile(one, other)
            assert get(other) in ("1", "2")
    together(work, copy)
""",
    "locks of the process": """
with folder() as place:
    path = os.path.join(place, "n")
    put(path, "0")
    def look():
        with open(path + ".lock", "w") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            n = int(get(path) or "0")
            put(path, str(n + 1))
    together(look, look)
    assert get(path) == "2"
""",
}


def _program(name: str, body: str) -> str:
    imports = "".join(f"import {one}\n" for one in _IMPORTS if one in body)
    return f"### {name}\n{imports}{_HEAD}---{body}"


WITHOUT_LOCK = frozenset(_BODIES) - {
    *("an update of a file", "what is in a folder", "a folder that another one moves"),
    *("one descriptor", "where a symbolic link leads", "a path below the current directory"),
}
"""Programs that are tried without a lock only: with one, they show nothing that these do not."""
FILES = "".join(_program(name, body) for name, body in _BODIES.items())
