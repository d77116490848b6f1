"""How tests come to be explored: by decorator, by command line, and by pytest.

`decorator` is `mazurka.explore`.  `collecting` finds the tests of a file for `mazurka test`, which
`importing` loads; `cases` runs methods of `unittest.TestCase`.  `named_options` reads options from
calls, markers and command lines.  `pytest` is the plugin.
"""
