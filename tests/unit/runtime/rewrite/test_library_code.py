"""Python code of the standard library, and of what runs tests, is observed like the program.

Two threads use a module.  Where its objects have something to race for, the race is found; a right
use holds, in few executions, and leaves nothing that is not observed.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.unit.runtime.observed_programs import module_of

from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.sharing import exempt
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test


class Use(NamedTuple):
    """What a test with two threads does with a module; `k` is 0 in one and 1 in the other."""

    imports: str
    work: str
    before: str = ""
    after: str = ""


def explore_use(folder: Path, use: Use) -> Result:
    (folder / "pyproject.toml").touch()
    source = f"""
import threading
{use.imports}
def program():
{textwrap.indent(use.before or "pass", "    ")}
    def work(k):
{textwrap.indent(use.work, "        ")}
    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
{textwrap.indent(use.after or "pass", "    ")}
"""
    module = module_of(folder, source)
    test = make_test(module.program, module.program)
    return explore_test(test, ExploreOptions(preemptions=1, patience=60))


RACES = {
    "unittest.mock": Use(
        "from unittest import mock",
        "m.reset_mock() if k else m()",  # a lock keeps two calls apart, from Python 3.13 on
        "m = mock.Mock()",
        "assert m.called == bool(m.call_count)",
    ),
    "unittest.case": Use(
        "import unittest",
        "case.doCleanups()",
        "case = unittest.TestCase()\ncase.addCleanup(int)",
    ),
    "pytest": Use(
        "import pytest",
        "with raises as info: raise (KeyError if k else IndexError)\nkinds.append(info.type)",
        "kinds, raises = [], pytest.raises((KeyError, IndexError))",
        "assert set(kinds) == {KeyError, IndexError}",
    ),
    "pluggy": Use(
        "import pluggy",
        "if not plugins.has_plugin('a'): plugins.register(object(), name='a')",
        "plugins = pluggy.PluginManager('x')",
    ),
    "pathlib": Use(
        "import pathlib",
        "paths[0] = paths[0] / 'c'",
        "paths = [pathlib.PurePosixPath('/')]",
        "assert len(paths[0].parts) == 3",
    ),
    "fnmatch": Use(
        "import fnmatch",
        "if k: names.append('b')\nelse: assert fnmatch.filter(names, '*') == ['a']",
        "names = ['a']",
    ),
    "codecs": Use(
        "import codecs",
        "codec.decode(b'ab')",
        "class Codec(codecs.BufferedIncrementalDecoder):\n"
        "    def _buffer_decode(self, data, errors, final): return '', 0\n"
        "codec = Codec()",
        "assert len(codec.buffer) == 4",
    ),
    "encodings": Use(
        "import codecs",
        "codec.decode(b'\\xc3' if k else b'\\xa9')",
        "codec = codecs.getincrementaldecoder('utf-8')()",
    ),
    "os.path": Use(
        "import os",
        "if k: names.append('b')\nelse: assert os.path.commonprefix(names) == 'a'",
        "names = ['ab', 'ac']",
    ),
    "traceback": Use(
        "import traceback",
        "if k: stack.clear()\nelse: assert len(stack.format()) == 1",
        "stack = traceback.StackSummary()\n"
        "stack.append(traceback.FrameSummary('a', 1, 'f', line=''))",
    ),
    "decimal": Use(
        "import _pydecimal as decimal",
        "context.divide(decimal.Decimal(1), decimal.Decimal(3))\n"
        "assert context.flags[decimal.Inexact]\n"
        "context.clear_flags()",
        "context = decimal.Context(prec=2)",
    ),
    "json": Use(
        "import json",
        "if k: decoder.object_hook = len\nelse: assert decoder.object_hook is None",
        "decoder = json.JSONDecoder()",
    ),
    "contextlib": Use(
        "import contextlib",
        "manager._exceptions = KeyError if k else ValueError\n"
        "with manager: raise KeyError if k else ValueError",
        "manager = contextlib.suppress(KeyError)",
    ),
    "functools": Use(
        "import functools",
        "source.__dict__['k'] = k\nfunctools.update_wrapper(copy, source)\nassert copy.k == k",
        "def source(): pass\ndef copy(): pass",
    ),
    "typing": Use(
        "import typing",
        "if k: box.n = 1\nelse: assert not isinstance(box, Numbered)",
        "@typing.runtime_checkable\n"
        "class Numbered(typing.Protocol):\n    n: int\n"
        "class Box: pass\n"
        "box = Box()",
    ),
    "enum": Use(
        "import enum\nclass Color(enum.Enum):\n    RED = 1",
        "Color.count = Color.count + 1",
        "Color.count = 0",
        "assert Color.count == 2",
    ),
    "inspect": Use(
        "import inspect",
        "if k: del box.n\nelse: assert inspect.getattr_static(box, 'n') == 1",
        "class Box: pass\nbox = Box()\nbox.n = 1",
    ),
    "textwrap": Use(
        "import textwrap",
        "if k: wrapper.width = 9\nelse: assert wrapper.fill('a b') == 'a\\nb'",
        "wrapper = textwrap.TextWrapper(width=1)",
    ),
    "ast": Use(
        "import ast",
        "if k: tree.body.clear()\nelse: assert ast.unparse(tree) == 'a'",
        "tree = ast.parse('a')",
    ),
}
RIGHT = {
    "unittest.mock": Use(
        "from unittest import mock", "mocks[k].f(k)", "mocks = [mock.Mock(), mock.Mock()]"
    ),
    "unittest.case": Use(
        "import unittest",
        "with case.assertRaises(KeyError): {}[k]\ncase.assertEqual({1: k}, {1: k})",
        "case = unittest.TestCase()",
    ),
    "pytest": Use(
        "import pytest",
        "with pytest.raises(KeyError): {}[k]\nassert 0.1 + 0.2 == pytest.approx(0.3)",
    ),
    "pluggy": Use(
        "import pluggy", "plugins.is_blocked('a')", "plugins = pluggy.PluginManager('x')"
    ),
    "pathlib": Use(
        "import pathlib",
        "assert str(path / str(k)) == f'/a/b/{k}' and path.parent.name == 'a'",
        "path = pathlib.PurePosixPath('/a/b')",
    ),
    "codecs": Use(
        "import codecs",
        "assert codecs.encode('a', 'utf-8') == b'a' == 'a'.encode('latin-1')",
    ),
    "linecache": Use("import linecache", "assert linecache.getline(__file__, 2)"),
    "tokenize": Use(
        "import io, tokenize",
        "assert len(list(tokenize.generate_tokens(io.StringIO('a = 1').readline))) == 5",
    ),
    "_strptime": Use(
        "import datetime",
        "assert datetime.datetime.strptime('2020-01-02', '%Y-%m-%d').day == 2",
    ),
    "os.path": Use("import os", "assert os.path.join('a', 'b') == 'a/b'"),
    "ipaddress": Use(  # the lock of a `cached_property` is in a class of the library
        "import ipaddress",
        "assert network.hostmask.packed[3] == 3",
        "network = ipaddress.ip_network('10.0.0.0/30')",
    ),
    "traceback": Use(
        "import traceback",
        "try: {}[k]\nexcept KeyError: assert 'KeyError' in traceback.format_exc()",
    ),
    "json": Use("import json", "assert json.loads(json.dumps({'a': [k]})) == {'a': [k]}"),
    "contextlib": Use(
        "import contextlib",
        "with manage(k) as got, contextlib.suppress(KeyError):\n"
        "    assert got == k\n"
        "    raise KeyError",
        "@contextlib.contextmanager\ndef manage(value): yield value",
    ),
    "functools": Use(
        "import functools",
        "@functools.wraps(program)\n"
        "def wrapper(): pass\n"
        "assert wrapper.__name__ == 'program' and functools.partial(int, '3')() == 3",
    ),
    "typing": Use(
        "import typing",
        "assert typing.Optional[int] == typing.Union[int, None] and typing.cast(int, k) == k",
    ),
    "enum": Use(
        "import enum\nclass Way(enum.Flag):\n    UP = 1\n    DOWN = 2",
        "assert Way(1) is Way.UP and Way.UP in Way.UP | Way.DOWN and {Way.UP: 1}[Way.UP] == 1",
    ),
    "re": Use("import re", "assert re.sub('a(.)', r'\\1', 'ab') == 'b'"),
    "decimal": Use(
        "import decimal",
        "assert decimal.Decimal('1.1') + decimal.Decimal('2.2') == decimal.Decimal('3.3')",
    ),
}


@pytest.mark.parametrize("module", RACES)
def test_a_race_inside_of_the_module_is_found(tmp_path: Path, module: str) -> None:
    result = explore_use(tmp_path, RACES[module])
    assert result.verdict == VIOLATED, result.report()


@pytest.mark.parametrize("module", RIGHT)
def test_a_right_use_holds_in_few_executions(tmp_path: Path, module: str) -> None:
    result = explore_use(tmp_path, RIGHT[module])
    assert result.verdict == HOLDS, result.report()
    # From Python 3.12 on, `cached_property` has no lock, so both threads may compute the value.
    most = 12 if module == "ipaddress" and sys.version_info >= (3, 12) else 10
    assert result.executions <= most
    assert result.not_observed == ()


def test_the_locale_is_one_location(tmp_path: Path) -> None:
    work = "locale.setlocale(locale.LC_NUMERIC, 'C') if k else locale.localeconv()"
    result = explore_use(tmp_path, Use("import locale", work))
    assert (result.verdict, result.executions) == (HOLDS, 2), result.report()
    assert result.not_observed == ()  # the locale stays the same


MEMORIES = {
    "linecache.cache": Use(
        "import linecache", "linecache.cache.pop('x', None)\nlinecache.getline('x', 1)"
    ),
    "re._cache": Use("import re", "len(getattr(re, '_cache'))"),
    "encodings._cache": Use("from encodings import _cache", "list(_cache)"),
    "re.Scanner": Use("import re", "scanner.scan('')", "scanner = re.Scanner([('a', None)])"),
}


@pytest.mark.parametrize("name", MEMORIES)
def test_nothing_is_proved_if_the_program_reaches_for_what_an_exempt_module_remembers(
    tmp_path: Path, name: str
) -> None:
    result = explore_use(tmp_path, MEMORIES[name])
    assert result.verdict == INCONCLUSIVE, result.report()
    assert f"{name} (its module is not observed)" in result.not_observed


def test_to_have_what_an_exempt_module_remembers_is_not_to_reach_for_it(tmp_path: Path) -> None:
    """As where somebody goes through all modules (freezegun)."""
    work = "[id(getattr(re, name)) for name in dir(re)]"
    result = explore_use(tmp_path, Use("import re", work))
    assert result.verdict == HOLDS, result.report()
    assert result.not_observed == ()


@pytest.mark.parametrize(
    ("module", "is_exempt"),
    [
        *(("mazurka.runtime", True), ("threading", True), ("concurrent.futures.thread", True)),
        *(("importlib._bootstrap", True), ("importlib.metadata", False), ("re._parser", True)),
        *(("encodings", True), ("encodings.utf_8", False), ("multiprocessing.util", True)),
        *(("multiprocessing.pool", False), ("unittest.case", False), ("_pytest.raises", False)),
        *(("pluggy", False), ("pathlib", False), ("coverage.collector", True)),
        *(("traceback", False), ("json.decoder", False), ("contextlib", False)),
        *(("_pytest.logging", True), ("_pytest.monkeypatch", False)),
    ],
)
def test_what_is_exempt(module: str, is_exempt: bool) -> None:
    assert exempt.is_exempt(module) == is_exempt
