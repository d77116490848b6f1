/* Peterson's filter lock: N processes climb N - 1 rungs, on each of which the last one waits. */
#ifndef N
#define N 4
#endif

byte level[N];
byte last[N];
byte inside;

active [N] proctype contender() {
  byte rung, distance;
  do
  :: rung = 1;
     do
     :: rung < N ->
        level[_pid] = rung;
        last[rung] = _pid;
        distance = 1;
        do
        :: distance < N ->
           (level[(_pid + distance) % N] < rung || last[rung] != _pid);
           distance++
        :: else -> break
        od;
        rung++
     :: else -> break
     od;
     inside++;
     assert(inside == 1);
     inside--;
     level[_pid] = 0
  od
}
