/* Readers and writers: the first reader takes the room for all of them, the last one leaves it. */
#ifndef READERS
#define READERS 4
#endif
#ifndef WRITERS
#define WRITERS 2
#endif

byte mutex = 1, room = 1;
byte readers, reading, writing;

#define acquire(s) atomic { s > 0 -> s-- }

active [READERS] proctype reader() {
  do
  :: acquire(mutex);
     readers++;
     if
     :: readers == 1 -> acquire(room)
     :: else
     fi;
     reading++;
     mutex++;
     assert(writing == 0);
     acquire(mutex);
     reading--;
     readers--;
     if
     :: readers == 0 -> room++
     :: else
     fi;
     mutex++
  od
}

active [WRITERS] proctype writer() {
  do
  :: acquire(room);
     writing++;
     assert(writing == 1);
     assert(reading == 0);
     writing--;
     room++
  od
}
