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
typedef _Atomic(ptrdiff_t) atomic_ptrdiff_t;
typedef _Atomic(wchar_t) atomic_wchar_t;
typedef _Atomic(intmax_t) atomic_intmax_t;
typedef _Atomic(uintmax_t) atomic_uintmax_t;
typedef _Atomic(int_least8_t) atomic_int_least8_t;
typedef _Atomic(uint_least8_t) atomic_uint_least8_t;
typedef _Atomic(int_least16_t) atomic_int_least16_t;
typedef _Atomic(uint_least16_t) atomic_uint_least16_t;
typedef _Atomic(int_least32_t) atomic_int_least32_t;
typedef _Atomic(uint_least32_t) atomic_uint_least32_t;
typedef _Atomic(int_least64_t) atomic_int_least64_t;
typedef _Atomic(uint_least64_t) atomic_uint_least64_t;
typedef _Atomic(int_fast8_t) atomic_int_fast8_t;
typedef _Atomic(uint_fast8_t) atomic_uint_fast8_t;
typedef _Atomic(int_fast16_t) atomic_int_fast16_t;
typedef _Atomic(uint_fast16_t) atomic_uint_fast16_t;
typedef _Atomic(int_fast32_t) atomic_int_fast32_t;
typedef _Atomic(uint_fast32_t) atomic_uint_fast32_t;
typedef _Atomic(int_fast64_t) atomic_int_fast64_t;
typedef _Atomic(uint_fast64_t) atomic_uint_fast64_t;
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
#define atomic_is_lock_free(object) ((void)(object), (_Bool)1)
#define ATOMIC_BOOL_LOCK_FREE 2
#define ATOMIC_CHAR_LOCK_FREE 2
#define ATOMIC_SHORT_LOCK_FREE 2
#define ATOMIC_INT_LOCK_FREE 2
#define ATOMIC_LONG_LOCK_FREE 2
#define ATOMIC_LLONG_LOCK_FREE 2
#define ATOMIC_POINTER_LOCK_FREE 2
#define kill_dependency(value) (value)
#define atomic_thread_fence(order) __sync_synchronize()
#define atomic_signal_fence(order) ((void)0)
#endif
