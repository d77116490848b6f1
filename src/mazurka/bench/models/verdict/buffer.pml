/* A bounded buffer between producers and consumers, guarded by a mutex and two semaphores. */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef SIZE
#define SIZE 4
#endif

byte buffer[SIZE];
byte head, tail;
byte vacant = SIZE;
byte filled;
bool guarded;

active [PRODUCERS] proctype producer() {
  do
  :: atomic { vacant > 0 -> vacant-- };
     atomic { !guarded -> guarded = true };
     buffer[tail] = _pid + 1;
     tail = (tail + 1) % SIZE;
     guarded = false;
     filled++
  od
}

active [CONSUMERS] proctype consumer() {
  byte item;
  do
  :: atomic { filled > 0 -> filled-- };
     atomic { !guarded -> guarded = true };
     item = buffer[head];
     assert(item != 0);
     buffer[head] = 0;
     head = (head + 1) % SIZE;
     guarded = false;
     vacant++
  od
}
