// expect: violated memory "last->data[2]"
// Structures that end with an array without a length: two threads send messages of different ones.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct message { size_t length; int kind[2]; char data[]; };
struct numbers { long count; int data[]; };

static struct message *box;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct message *make(const char *text) {
    struct message *made = calloc(1, sizeof *made + strlen(text) + 1);
    made->length = strlen(text);
    strcpy(made->data, text);
    return made;
}

static void *send(void *text) {
    struct message *mail = make(text);
    pthread_mutex_lock(&lock);
    while (box) pthread_cond_wait(&changed, &lock);
    box = mail;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static size_t receive(void) {
    pthread_mutex_lock(&lock);
    while (!box) pthread_cond_wait(&changed, &lock);
    struct message *mail = box;
    box = NULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    assert(strlen(mail->data) == mail->length && mail->kind[1] == 0);
    size_t length = mail->length;
    free(mail);
    return length;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, send, "hi");
    pthread_create(&second, NULL, send, "you");
    size_t sum = receive();
    assert(sum + receive() == 5);
    struct numbers *last = malloc(sizeof(struct numbers) + 2 * sizeof(int));
    for (int i = 0; i < 2; i++) last->data[i] = 97 + i;
    last->data[2] = 1;
    return 0;
}
