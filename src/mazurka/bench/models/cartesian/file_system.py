"""Threads that give blocks to inodes (paper 003, A.6; from Flanagan and Godefroid, POPL 2005).

Thread `tid` looks for a free block for its inode, from a place on that depends on the inode.  The
first 13 threads find one at once; then threads 0 and 13, 1 and 14, ... begin at the same block.  A
thread that finds its block in use gives the lock back in the same transition.
"""

from mazurka.model import Array, Bool, Int, Mutex, atomic

N = 14
BLOCKS = 26
INODES = 32

inode_locks = Array(Mutex, INODES)
inodes = Array(Int[0, BLOCKS], INODES)
block_locks = Array(Mutex, BLOCKS)
busy = Array(Bool, BLOCKS)


def writer(tid):
    i = tid % INODES
    inode_locks[i].acquire()
    if inodes[i] == 0:
        b: Int[0, BLOCKS - 1] = i * 2 % BLOCKS
        searching = True
        while searching:
            block_locks[b].acquire()
            with atomic():
                searching = busy[b]
                if searching:
                    block_locks[b].release()
                    b = (b + 1) % BLOCKS
        busy[b] = True
        inodes[i] = b + 1
        block_locks[b].release()
    inode_locks[i].release()


threads = [writer(tid) for tid in range(N)]
