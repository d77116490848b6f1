/* Transfers between accounts, each with a lock; the lock of the lower number is taken first. */
#ifndef ACCOUNTS
#define ACCOUNTS 3
#endif
#ifndef CLERKS
#define CLERKS 3
#endif

byte balance[ACCOUNTS];
bool locked[ACCOUNTS];

active [CLERKS] proctype clerk() {
  byte source, target, low, high, before, theirs, mine, others;
  do
  :: select(source : 0 .. ACCOUNTS - 1);
     select(target : 1 .. ACCOUNTS - 1);
     target = (source + target) % ACCOUNTS;
     low = (source < target -> source : target);
     high = (source < target -> target : source);
     atomic { !locked[low] -> locked[low] = true };
     atomic { !locked[high] -> locked[high] = true };
     before = balance[source];
     theirs = balance[target];
     if
     :: before == 0 && theirs == 0 -> balance[source] = 1; before = 1
     :: else
     fi;
     if
     :: before > 0 && theirs < 2 -> balance[source] = before - 1; balance[target] = theirs + 1
     :: else
     fi;
     mine = balance[source];
     others = balance[target];
     assert(mine + others == before + theirs);
     locked[high] = false;
     locked[low] = false;
     d_step { source = 0; target = 0; low = 0; high = 0; before = 0; theirs = 0; mine = 0; others = 0 }
  od
}
