/* Szymanski's mutual exclusion with a waiting room, for four processes. */
byte flag[4];
byte inside;

#define OPEN (flag[0] < 3 && flag[1] < 3 && flag[2] < 3 && flag[3] < 3)
#define CROWDED (flag[0] == 1 || flag[1] == 1 || flag[2] == 1 || flag[3] == 1)
#define LEAVING (flag[0] == 4 || flag[1] == 4 || flag[2] == 4 || flag[3] == 4)
#define PAST(k) (_pid <= k || flag[k] < 2)
#define FIRST (PAST(0) && PAST(1) && PAST(2))
#define BEHIND(k) (_pid >= k || (flag[k] != 2 && flag[k] != 3))
#define LAST (BEHIND(1) && BEHIND(2) && BEHIND(3))

active [4] proctype contender() {
  do
  :: flag[_pid] = 1;
     OPEN;
     flag[_pid] = 3;
     if
     :: CROWDED -> flag[_pid] = 2; LEAVING
     :: else
     fi;
     flag[_pid] = 4;
     FIRST;
     inside++;
     assert(inside == 1);
     inside--;
     LAST;
     flag[_pid] = 0
  od
}
