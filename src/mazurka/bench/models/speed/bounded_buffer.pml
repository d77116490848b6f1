/* A bounded buffer between producers and consumers, guarded by a mutex and two semaphores. */
#ifndef PRODUCERS
#define PRODUCERS 3
#endif
#ifndef CONSUMERS
#define CONSUMERS 3
#endif
#ifndef SIZE
#define SIZE 5
#endif

byte buffer[SIZE];
byte head, tail;
byte vacant = SIZE;
byte filled;
bool guarded;

active [PRODUCERS] proctype producer() {
  byte slot;
  do
  :: d_step { vacant > 0 -> vacant-- };
     d_step { !guarded -> guarded = true };
     slot = tail;
     buffer[slot] = _pid + 1;
     d_step { tail = (slot + 1) % SIZE; slot = 0 };
     guarded = false;
     filled++
  od
}

active [CONSUMERS] proctype consumer() {
  byte slot;
  do
  :: d_step { filled > 0 -> filled-- };
     d_step { !guarded -> guarded = true };
     slot = head;
     assert(buffer[slot] != 0);
     buffer[slot] = 0;
     d_step { head = (slot + 1) % SIZE; slot = 0 };
     guarded = false;
     vacant++
  od
}
