"""Commit Point Completion without line L19: Fig. 6 of paper 000 as it stands outside the comment.

As `cpc`, but every committed state, not only every commit point, must reach the end of its
transaction.  It ends transactions more often (in Fig. 8, in both loops instead of once).
"""

from __future__ import annotations

from mazurka.stateful.families import transaction_strategy
from mazurka.stateful.variants import Completion

STRATEGY = transaction_strategy(
    "cpc-strict", "as cpc, completed at every committed state", Completion.EVERY_STATE
)
