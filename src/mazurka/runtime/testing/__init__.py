"""How tests come to be explored: by decorator, by command line, and by pytest.

`decorator` is `mazurka.explore`, also for methods of `unittest.TestCase`.  `collecting` finds the
tests of a file for `mazurka test`, which `importing` loads.  `pytest` is the plugin.
"""
