/* Dining philosophers: take left, take right, put down left, put down right. */
#ifndef N
#define N 14
#endif

bool taken[N];

#define LEFT  taken[_pid]
#define RIGHT taken[(_pid + 1) % N]

active [N] proctype philosopher() {
  do
  :: d_step { !LEFT -> LEFT = true };
     d_step { !RIGHT -> RIGHT = true };
     LEFT = false;
     RIGHT = false
  od
}
