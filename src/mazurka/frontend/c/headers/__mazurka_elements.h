#ifndef __MAZURKA_ELEMENTS
#define __MAZURKA_ELEMENTS
/* Functions on elements of any type: what is written for this one is made that of others. */
#include <stddef.h>
struct __mazurka_element { char __none; };
extern void __mazurka_undecided(void);
static void __mazurka_qsort(struct __mazurka_element *base, size_t count,
                            int (*compare)(const void *, const void *)) {
    struct __mazurka_element moved;
    size_t i, j;
    for (i = 1; i < count; i++) {
        moved = base[i];
        for (j = i; j > 0 && compare(&base[j - 1], &moved) > 0; j--) base[j] = base[j - 1];
        base[j] = moved;
    }
}
static void *__mazurka_bsearch(const void *key, struct __mazurka_element *base, size_t count,
                               int (*compare)(const void *, const void *)) {
    size_t low = 0, high = count, middle;
    int order;
    while (low < high) {
        middle = (low + high) / 2;
        order = compare(key, &base[middle]);
        if (order == 0) return &base[middle];
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return 0;
}
static void *__mazurka_copy(struct __mazurka_element *target,
                            const struct __mazurka_element *source, size_t size) {
    size_t count = size / sizeof(struct __mazurka_element), i;
    if (size % sizeof(struct __mazurka_element)) __mazurka_undecided();
    if (target <= source)
        for (i = 0; i < count; i++) target[i] = source[i];
    else
        for (i = count; i > 0; i--) target[i - 1] = source[i - 1];
    return target;
}
static void *__mazurka_clear(struct __mazurka_element *target, size_t size) {
    size_t count = size / sizeof(struct __mazurka_element), i;
    struct __mazurka_element none = {0};
    if (size % sizeof(struct __mazurka_element)) __mazurka_undecided();
    for (i = 0; i < count; i++) target[i] = none;
    return target;
}
static void *__mazurka_fill(char *target, int value, size_t size) {
    size_t i;
    for (i = 0; i < size; i++) target[i] = (char)value;
    return target;
}
#endif
