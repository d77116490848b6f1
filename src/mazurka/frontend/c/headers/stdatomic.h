#ifndef __MAZURKA_STDATOMIC
#define __MAZURKA_STDATOMIC
#include <stddef.h>
#include <stdint.h>
typedef enum {
    memory_order_relaxed, memory_order_consume, memory_order_acquire,
    memory_order_release, memory_order_acq_rel, memory_order_seq_cst
} memory_order;
typedef _Atomic(_Bool) atomic_bool;
typedef _Atomic(char) atomic_char;
typedef _Atomic(signed char) atomic_schar;
typedef _Atomic(unsigned char) atomic_uchar;
typedef _Atomic(short) atomic_short;
typedef _Atomic(unsigned short) atomic_ushort;
typedef _Atomic(int) atomic_int;
typedef _Atomic(unsigned int) atomic_uint;
typedef _Atomic(long) atomic_long;
typedef _Atomic(unsigned long) atomic_ulong;
typedef _Atomic(long long) atomic_llong;
typedef _Atomic(unsigned long long) atomic_ullong;
typedef _Atomic(size_t) atomic_size_t;
typedef _Atomic(intptr_t) atomic_intptr_t;
typedef _Atomic(uintptr_t) atomic_uintptr_t;
typedef struct { _Atomic(_Bool) __set; } atomic_flag;
#define ATOMIC_FLAG_INIT {0}
#define ATOMIC_VAR_INIT(value) (value)
#define atomic_init(object, value) __c11_atomic_init(object, value)
#define atomic_load(object) __c11_atomic_load(object, 5)
#define atomic_load_explicit(object, order) __c11_atomic_load(object, order)
#define atomic_store(object, value) __c11_atomic_store(object, value, 5)
#define atomic_store_explicit(object, value, order) __c11_atomic_store(object, value, order)
#define atomic_exchange(object, value) __c11_atomic_exchange(object, value, 5)
#define atomic_exchange_explicit(object, value, order) __c11_atomic_exchange(object, value, order)
#define atomic_compare_exchange_strong(object, expected, value) \
    __c11_atomic_compare_exchange_strong(object, expected, value, 5, 5)
#define atomic_compare_exchange_weak(object, expected, value) \
    __c11_atomic_compare_exchange_weak(object, expected, value, 5, 5)
#define atomic_compare_exchange_strong_explicit(object, expected, value, success, failure) \
    __c11_atomic_compare_exchange_strong(object, expected, value, success, failure)
#define atomic_compare_exchange_weak_explicit(object, expected, value, success, failure) \
    __c11_atomic_compare_exchange_weak(object, expected, value, success, failure)
#define atomic_fetch_add(object, value) __c11_atomic_fetch_add(object, value, 5)
#define atomic_fetch_sub(object, value) __c11_atomic_fetch_sub(object, value, 5)
#define atomic_fetch_or(object, value) __c11_atomic_fetch_or(object, value, 5)
#define atomic_fetch_and(object, value) __c11_atomic_fetch_and(object, value, 5)
#define atomic_fetch_xor(object, value) __c11_atomic_fetch_xor(object, value, 5)
#define atomic_fetch_add_explicit(object, value, order) __c11_atomic_fetch_add(object, value, order)
#define atomic_fetch_sub_explicit(object, value, order) __c11_atomic_fetch_sub(object, value, order)
#define atomic_fetch_or_explicit(object, value, order) __c11_atomic_fetch_or(object, value, order)
#define atomic_fetch_and_explicit(object, value, order) __c11_atomic_fetch_and(object, value, order)
#define atomic_fetch_xor_explicit(object, value, order) __c11_atomic_fetch_xor(object, value, order)
#define atomic_flag_test_and_set(flag) __c11_atomic_exchange(&(flag)->__set, 1, 5)
#define atomic_flag_test_and_set_explicit(flag, order) __c11_atomic_exchange(&(flag)->__set, 1, order)
#define atomic_flag_clear(flag) __c11_atomic_store(&(flag)->__set, 0, 5)
#define atomic_flag_clear_explicit(flag, order) __c11_atomic_store(&(flag)->__set, 0, order)
#define atomic_thread_fence(order) __sync_synchronize()
#define atomic_signal_fence(order) ((void)0)
#endif
