/* Bellman-Ford by several workers: shortest paths from a source, kept in one shared array.
   The graph is a chain with dear shortcuts. */
#ifndef WORKERS
#define WORKERS 4
#endif
#ifndef LENGTH
#define LENGTH 7
#endif
#ifndef SHORTCUT
#define SHORTCUT 16
#endif
#define NODES (WORKERS * LENGTH)

byte distance[NODES] = 255;

#define NODE   ((_pid + 1) * LENGTH - 1 - k)
#define ALONG  (NODE > 0 -> distance[NODE - 1] + 1 : 0)
#define ACROSS (NODE >= SHORTCUT -> distance[NODE - SHORTCUT] + 2 * SHORTCUT : 255)

active [WORKERS] proctype worker() {
  byte k;
  do
  :: d_step {
       if
       :: ALONG < distance[NODE] -> distance[NODE] = ALONG
       :: else
       fi;
       if
       :: ACROSS < distance[NODE] -> distance[NODE] = ACROSS
       :: else
       fi;
       k = (k + 1) % LENGTH
     }
  od
}
