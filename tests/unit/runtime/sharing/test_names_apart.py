"""Objects of different kinds have different names, whatever the program calls them."""

from __future__ import annotations

import json.encoder
from pathlib import Path

from observed_programs import find

from mazurka.runtime.sharing.names import names

REBOUND = """
import threading

items = [0]

def worker():
    global items
    items[0] += 1
    items = items

def program():
    items[0] = 0
    threads = [threading.Thread(target=worker) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return items[0]
"""


def test_a_variable_of_a_module_is_not_the_list_in_it(tmp_path: Path) -> None:
    """Both are points: the list is changed without protection, and so is the variable."""
    assert set(find(tmp_path, REBOUND, bound=2).outcomes) == {1, 2}


def test_a_module_is_not_an_object_of_that_name_in_its_package() -> None:
    counter = object()
    package = type(names)()
    package.pin(counter, "json.encoder")
    assert package.see(counter).name != package.see(json.encoder).name
