"""Daisy, a small file system with a lock for everything but its bytes.

After section 5 of Kahlon, Gupta and Sinha (CAV 2006).  Each file has an inode, which says where the
file's data is, and a block for the data.  A bit in the allocation area says whether the block is in
use.  Files, inodes and blocks have a lock each; taking and releasing any of these locks is guarded
by a token.  But bytes have no locks, and the disk reads and writes whole bytes: two threads that
allocate different blocks for different files both change the byte that contains both bits, and the
bit of one of them may be lost.

    mazurka check examples/daisy.py --property race                       blocks 0 and 1
    mazurka check examples/daisy.py --property race -D FIRST=1 -D SECOND=2
    mazurka check examples/daisy.py --property race -D SEEK=1             the disk's head

With `-D SEEK=1` reading or writing a byte is two operations: a seek, which moves the head, and the
transfer.  Bytes have locks then, but the head has none.  `-D FIXED=1` has locks for both; with it,
every file keeps its block and its data.
"""

import threading

from mazurka.model import Array, Bool, Int

FIXED = 0
SEEK = 0
FIRST = 0
SECOND = 1

FILES = 3  # as many inodes and blocks
BITS = 8
ALLOCATION = 0  # where the disk has the allocation area, the inodes and the blocks
INODES = 1
BLOCKS = INODES + FILES

disk = Array(Int[0, (1 << BITS) - 1], BLOCKS + FILES)
head: Int[0, BLOCKS + FILES - 1] = 0
disk_lock = threading.Lock()
byte_lock = threading.Lock()

token = threading.Condition()
taken = Array(Bool, 3 * FILES)  # the locks of files, inodes and blocks


def acquire(lock):
    with token:
        while taken[lock]:
            token.wait()
        taken[lock] = True


def release(lock):
    with token:
        taken[lock] = False
        token.notify_all()


def file_lock(file):
    return file


def inode_lock(file):
    return FILES + file


def block_lock(block):
    return 2 * FILES + block


def read_byte(place):
    global head
    if not SEEK:
        return disk[place]
    if FIXED:
        disk_lock.acquire()
    head = place
    value = disk[head]
    if FIXED:
        disk_lock.release()
    return value


def write_byte(place, value):
    global head
    if not SEEK:
        disk[place] = value
        return
    if FIXED:
        disk_lock.acquire()
    head = place
    disk[head] = value
    if FIXED:
        disk_lock.release()


def is_allocated(block):
    if FIXED or SEEK:
        byte_lock.acquire()
    byte = read_byte(ALLOCATION + block // BITS)
    if FIXED or SEEK:
        byte_lock.release()
    return (byte >> block % BITS) & 1


def allocate(block):
    if FIXED or SEEK:
        byte_lock.acquire()
    byte = read_byte(ALLOCATION + block // BITS)
    write_byte(ALLOCATION + block // BITS, byte | 1 << block % BITS)
    if FIXED or SEEK:
        byte_lock.release()


def find_block(file):
    """The file's block; it is allocated if the file has none yet."""
    acquire(inode_lock(file))
    known = read_byte(INODES + file)
    if known == 0:
        known = file + 1
        acquire(block_lock(file))
        allocate(file)
        release(block_lock(file))
        write_byte(INODES + file, known)
    release(inode_lock(file))
    return known - 1


def write(file, value):
    acquire(file_lock(file))
    block = find_block(file)
    acquire(block_lock(block))
    write_byte(BLOCKS + block, value)
    release(block_lock(block))
    release(file_lock(file))


def read(file):
    acquire(file_lock(file))
    block = find_block(file)
    acquire(block_lock(block))
    value = read_byte(BLOCKS + block)
    release(block_lock(block))
    release(file_lock(file))
    return value


def client(file, value):
    write(file, value)
    if FIXED:
        assert is_allocated(file), "the block of a file is free"
        assert read(file) == value, "the data of a file has changed"


threads = [client(FIRST, 1), client(SECOND, 2)]
