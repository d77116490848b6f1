/* A token ring: whoever has the token may enter; meanwhile the others work for themselves. */
#ifndef N
#define N 6
#endif
#ifndef WORK
#define WORK 3
#endif

chan link[N] = [1] of { bit };
byte inside;

proctype station(chan in, out; byte me) {
  byte k;
  xr in;
  xs out;
  if
  :: me == 0 -> out!0
  :: else
  fi;
  do
  :: k = 0;
     do
     :: k < WORK -> k++
     :: else -> break
     od;
     in?0;
     inside++;
     assert(inside == 1);
     inside--;
     out!0
  od
}

init {
  byte k;
  atomic {
    do
    :: k < N -> run station(link[k], link[(k + 1) % N], k); k++
    :: else -> break
    od
  }
}
