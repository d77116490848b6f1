import unittest
from unittest import mock

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_count_of_calls():
    """violated before 3.13: a mock added one to `call_count` without a lock."""
    made = mock.Mock()
    run_together(lambda: made(1), lambda: made(2))
    assert made.call_count == 2


def test_list_of_calls():
    """holds: a mock appends to the list of its calls."""
    made = mock.Mock()
    run_together(lambda: made(1), lambda: made(2))
    assert len(made.call_args_list) == 2


def test_mocks_of_their_own():
    """holds: each thread has a mock of its own."""
    first, second = mock.MagicMock(), mock.MagicMock()
    run_together(lambda: first.add(1), lambda: second.add(2))
    first.add.assert_called_once_with(1)
    second.add.assert_called_once_with(2)


def test_values_one_after_the_other():
    """holds: the values of a side effect are taken from one iterator."""
    made = mock.Mock(side_effect=[1, 2])
    found = []
    run_together(lambda: found.append(made()), lambda: found.append(made()))
    assert sorted(found) == [1, 2]


class Settings:
    limit = 1


def test_patch_in_two_threads():
    """violated: the thread that ends last puts back what the other has patched."""

    def patch():
        with mock.patch.object(Settings, "limit", 2):
            pass

    run_together(patch, patch)
    left, Settings.limit = Settings.limit, 1
    assert left == 1


def test_cleanups():
    """violated: `doCleanups` looks whether there are any, and takes one, in two steps."""
    case = unittest.TestCase()
    case.addCleanup(int)
    run_together(case.doCleanups, case.doCleanups)


def test_assertions_of_one_case():
    """holds: assertions keep nothing in their test case."""
    case = unittest.TestCase()

    def check():
        with case.assertRaises(KeyError):  # noqa: PT027
            {}[1]
        case.assertEqual([1, 2], [1, 2])  # noqa: PT009

    run_together(check, check)


def test_expected_exceptions():
    """holds: each thread has an expectation of its own."""

    def expect():
        with pytest.raises(KeyError) as caught:
            {}[1]
        assert caught.value.args == (1,)

    run_together(expect, expect)
