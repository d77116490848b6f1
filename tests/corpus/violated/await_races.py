# expect: violated race
# check: --property race
"""Waiting for a plain variable reads it, while another thread may write it."""

from mazurka.model import Int, await_

ready: Int[0, 2] = 1


def wait():
    await_(ready > 0)


def signal():
    global ready
    ready = 2


threads = [wait(), signal()]
