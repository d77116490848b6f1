/* Leader election in a ring (Chang, Roberts): the largest number comes back to its owner. */
#ifndef N
#define N 5
#endif

chan link[N] = [N] of { byte };
byte elected;

proctype node(chan in, out; byte mine) {
  byte message;
  xr in;
  xs out;
  out!mine;
  do
  :: in?message;
     if
     :: message == mine ->
        elected++;
        assert(elected == 1);
        assert(mine == N);
        out!0;
        break
     :: message > mine -> out!message
     :: message == 0 ->
        if
        :: mine != N -> out!0
        :: else
        fi;
        break
     :: else
     fi
  od
}

init {
  byte k;
  atomic {
    do
    :: k < N -> run node(link[k], link[(k + 1) % N], k + 1); k++
    :: else -> break
    od
  }
}
