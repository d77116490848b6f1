/* Dining philosophers who all take the left fork first: they starve. */
#ifndef N
#define N 12
#endif

bool taken[N];

active [N] proctype philosopher() {
  do
  :: atomic { !taken[_pid] -> taken[_pid] = true };
     atomic { !taken[(_pid + 1) % N] -> taken[(_pid + 1) % N] = true };
     taken[_pid] = false;
     taken[(_pid + 1) % N] = false
  od
}
