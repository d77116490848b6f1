// expect: violated race
// check: --property race
/* The allocation area of the Daisy file system, from the description in paper 004, section 5.

   Each block of the disk has a bit that says whether it is used, and a lock of its own.  The disk is
   read and written by whole bytes, so threads that allocate different blocks change the same byte,
   under different locks: `mazurka check examples/daisy/daisy.c --property race` shows it.  As in
   Daisy, acquiring and releasing a lock of a block is guarded by a token. */

#include <assert.h>
#include <pthread.h>

#define BLOCKS 2
#define BYTES ((BLOCKS + 7) / 8)

unsigned char allocated[BYTES];            /* one bit for each block */
pthread_mutex_t token = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t released = PTHREAD_COND_INITIALIZER;
int held[BLOCKS];                          /* the locks of the blocks, guarded by the token */

void acquire(int block) {
    pthread_mutex_lock(&token);
    while (held[block])
        pthread_cond_wait(&released, &token);
    held[block] = 1;
    pthread_mutex_unlock(&token);
}

void release(int block) {
    pthread_mutex_lock(&token);
    held[block] = 0;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&token);
}

unsigned char read_byte(int number) {
    return allocated[number];
}

void write_byte(int number, unsigned char value) {
    allocated[number] = value;
}

void allocate(int block) {
    acquire(block);
    unsigned char byte = read_byte(block / 8);
    write_byte(block / 8, byte | 1 << block % 8);
    release(block);
}

void *create_file(void *argument) {
    int block = (int)(long)argument;
    allocate(block);
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, create_file, (void *)0);
    pthread_create(&second, 0, create_file, (void *)1);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(allocated[0] == 3);
    return 0;
}
