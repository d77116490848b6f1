/* Two-phase commit in which the coordinator does not wait for the last vote: it fails. */
#ifndef N
#define N 6
#endif
#define YES 1
#define NO 2
#define COMMIT 1
#define ABORT 2

byte votes[N];
byte decision;

active [N] proctype participant() {
  byte vote;
  if
  :: vote = YES
  :: vote = NO
  fi;
  votes[_pid] = vote;
  decision != 0;
  assert(decision == ABORT || vote == YES)
}

active proctype coordinator() {
  byte other;
  bool agreed = true;
  do
  :: other < N - 1 ->
     votes[other] != 0;
     if
     :: votes[other] == NO -> agreed = false
     :: else
     fi;
     other++
  :: else -> break
  od;
  if
  :: agreed -> decision = COMMIT
  :: else -> decision = ABORT
  fi
}
