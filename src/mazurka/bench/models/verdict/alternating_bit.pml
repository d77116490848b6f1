/* The alternating bit protocol over two lossy channels; values must arrive in order. */
#ifndef VALUES
#define VALUES 4
#endif
#ifndef ROOM
#define ROOM 3
#endif

chan data = [ROOM] of { byte };
chan acks = [ROOM] of { bit };

active proctype sender() {
  bit mine, answer;
  byte value;
  xs data;
  do
  :: if
     :: nfull(data) -> data!(2 * value + mine)
     :: true
     fi;
     if
     :: nempty(acks) ->
        acks?answer;
        if
        :: answer == mine -> mine = 1 - mine; value = (value + 1) % VALUES
        :: else
        fi
     :: empty(acks)
     fi
  od
}

active proctype receiver() {
  bit mine;
  byte message, value;
  xr data;
  do
  :: data?message;
     if
     :: message % 2 == mine ->
        assert(message / 2 == value);
        mine = 1 - mine;
        value = (value + 1) % VALUES
     :: else
     fi;
     if
     :: nfull(acks) -> acks!(message % 2)
     :: true
     fi
  od
}
