# expect: violated deadlock "2 threads wait for ever"
"""Both announce themselves and wait until the other one has gone."""

from mazurka.model import Array, Bool, await_

here = Array(Bool, 2)


def polite(me):
    here[me] = True
    await_(not here[1 - me])
    here[me] = False


threads = [polite(0), polite(1)]
