/* Peterson's mutual exclusion for N processes: N - 1 rungs, on each of which the last one waits. */
#ifndef N
#define N 5
#endif

byte level[N];
byte last[N];
byte inside;

active [N] proctype contender() {
  byte rung = 1;
  byte distance;
  byte seen;

idle:
  level[_pid] = rung;
  d_step { last[rung] = _pid; distance = 1 };
  do
  :: distance < N - 1 ->
     d_step {
       (level[(_pid + distance) % N] < rung || last[rung] != _pid) ->
       distance++
     }
  od
}
