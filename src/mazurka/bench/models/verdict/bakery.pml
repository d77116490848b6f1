/* Lamport's bakery without the flags that say who is choosing a number: it fails. */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

byte number[N];
byte inside;

active [N] proctype customer() {
  byte round, other, seen, top;
  do
  :: round < ROUNDS ->
     top = 0;
     other = 0;
     do
     :: other < N ->
        seen = number[other];
        if
        :: seen > top -> top = seen
        :: else
        fi;
        other++
     :: else -> break
     od;
     number[_pid] = top + 1;
     other = 0;
     do
     :: other < N ->
        (number[other] == 0 || number[other] > number[_pid]
         || (number[other] == number[_pid] && other >= _pid));
        other++
     :: else -> break
     od;
     inside++;
     assert(inside == 1);
     inside--;
     number[_pid] = 0;
     round++
  :: else -> break
  od
}
