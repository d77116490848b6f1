/* Peterson's mutual exclusion for N processes: N - 1 rungs, on each of which the last one waits. */
#ifndef N
#define N 5
#endif

byte level[N];
byte last[N];
byte inside;

#define PASSES (level[(_pid + distance) % N] < rung || last[rung] != _pid)

active [N] proctype contender() {
  byte rung = 1;
  byte distance;

climb:
  level[_pid] = rung;
  d_step { last[rung] = _pid; distance = 1 };
  do
  :: d_step { distance < N - 1 && PASSES -> distance++ }
  :: d_step { distance == N - 1 && rung < N - 1 && PASSES -> distance = 0; rung++ };
     goto climb
  :: d_step { distance == N - 1 && rung == N - 1 && PASSES -> distance = 0; rung = 0 };
     break
  od;
  inside++;
  assert(inside == 1);
  inside--;
  d_step { level[_pid] = 0; rung = 1 };
  goto climb
}
