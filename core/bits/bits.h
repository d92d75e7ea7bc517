/* bits.h - reads and writes words of a bitmap that other threads and processes may write.
 *
 * Bit i is in byte i/8, mask 0x80 >> (i % 8), as in Redis. In the 64-bit word i/64 its shift is
 * (i ^ 7) % 64 on little-endian machines and (i ^ 63) % 64 on big-endian machines. Relaxed memory
 * order is sufficient, because a set bit publishes no other data and an add never clears a bit. */
#ifndef BF_BITS_H
#define BF_BITS_H
#include "bloomfilter_host.h"
#include <stdbool.h>
#include <stdint.h>
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BF_ORDER 63u
#define BF_CELL_ORDER 15u
#else
#define BF_ORDER 7u
#define BF_CELL_ORDER 1u
#endif
enum { BF_CELL_BITS = 4, BF_CELL_MAX = 15 };
/* Marks a step for tests/model, which runs threads in every order of their steps. */
#ifdef BF_MODEL
void bf_model_step(const void *word, bool write);
void bf_model_wait(const int *lock); /* a step that can run only while *lock is 0 */
#define BF_STEP(word, write) bf_model_step(word, write)
#define BF_WAIT(lock) bf_model_wait(lock)
#else
#define BF_STEP(word, write) ((void)0)
#define BF_WAIT(lock) ((void)0)
#endif
/* A word that other threads or processes may write. The alignment is for i386, where a uint64_t has
 * 4 bytes and may cross a cache line; an access would then not be atomic. */
typedef uint64_t bf_shared __attribute__((aligned(8)));
_Static_assert(__atomic_always_lock_free(sizeof(bf_shared), 0),
    "bloomfilter needs lock-free 64-bit atomics, which this machine lacks");
static inline uint64_t bf_mask_of(uint64_t pos) { return UINT64_C(1) << ((pos ^ BF_ORDER) & 63); }
static inline uint64_t bf_word(const uint64_t *w)
{
    BF_STEP(w, false);
    return __atomic_load_n((const bf_shared *)w, __ATOMIC_RELAXED);
}
/* Sets the bits of mask and returns true if all of them were set before. If atomic, writes only
 * when a bit was not set. If not atomic, always writes, because a branch would often be
 * mispredicted. */
static inline bool bf_or(uint64_t *w, uint64_t mask, bool atomic)
{
    uint64_t old = bf_word(w);
    if (!atomic) {
        BF_STEP(w, true);
        *w = old | mask;
        return (old & mask) == mask;
    }
    if ((old & mask) == mask) return true;
    BF_STEP(w, true);
    return (__atomic_fetch_or((bf_shared *)w, mask, __ATOMIC_RELAXED) & mask) == mask;
}
#if defined(__x86_64__) && defined(__GNUC__)
/* Compare-and-swap of two adjacent words, aligned to 16 bytes: replaces (lo, hi) by (new_lo,
 * new_hi). Returns false if the words are not (lo, hi). */
__attribute__((target("cx16"))) static inline bool bf_swap_pair(
    uint64_t *w, uint64_t lo, uint64_t hi, uint64_t new_lo, uint64_t new_hi)
{
    BF_STEP(w, true);
    unsigned __int128 old = (unsigned __int128)hi << 64 | lo,
                      want = (unsigned __int128)new_hi << 64 | new_lo;
    return __sync_bool_compare_and_swap((unsigned __int128 *)(void *)w, old, want);
}
#endif
static inline void bf_and(uint64_t *w, uint64_t mask)
{
    BF_STEP(w, true);
    __atomic_fetch_and((bf_shared *)w, mask, __ATOMIC_RELAXED);
}
/* Counter i of a counting filter has 4 bits, in byte i/2: the high half if i is even, as in Redis's
 * BITFIELD (u4 #i). The value 15 means "15 or more" and never changes, because the real count is
 * unknown. */
static inline unsigned bf_cell_shift(uint64_t i)
{
    return (unsigned)((i ^ BF_CELL_ORDER) & 15) * 4;
}
static inline unsigned bf_cell(const uint64_t *words, uint64_t i)
{
    return bf_word(words + (i >> 4)) >> bf_cell_shift(i) & BF_CELL_MAX;
}
static inline bool bf_word_cas(uint64_t *w, uint64_t *was, uint64_t want)
{
    BF_STEP(w, true);
    return __atomic_compare_exchange_n(
        (bf_shared *)w, was, want, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
/* bf_cell_up increments a counter, bf_cell_down decrements it. Both return the old value. A counter
 * of 15 is never changed, a counter of 0 is not decremented. */
static inline unsigned bf_cell_up(uint64_t *words, uint64_t i, bool atomic)
{
    uint64_t *w = words + (i >> 4), old = bf_word(w), one = UINT64_C(1) << bf_cell_shift(i);
    for (;;) {
        unsigned v = old >> bf_cell_shift(i) & BF_CELL_MAX;
        if (v == BF_CELL_MAX) return v;
        if (!atomic) {
            BF_STEP(w, true);
            *w = old + one;
            return v;
        }
        if (bf_word_cas(w, &old, old + one)) return v;
    }
}
static inline unsigned bf_cell_down(uint64_t *words, uint64_t i, bool atomic)
{
    uint64_t *w = words + (i >> 4), old = bf_word(w), one = UINT64_C(1) << bf_cell_shift(i);
    for (;;) {
        unsigned v = old >> bf_cell_shift(i) & BF_CELL_MAX;
        if (v == BF_CELL_MAX || v == 0) return v;
        if (!atomic) {
            BF_STEP(w, true);
            *w = old - one;
            return v;
        }
        if (bf_word_cas(w, &old, old - one)) return v;
    }
}
static inline void bf_word_store(uint64_t *w, uint64_t value)
{
    BF_STEP(w, true);
    __atomic_store_n((bf_shared *)w, value, __ATOMIC_RELAXED);
}
/* A flag of the handle. Relaxed memory order: the flag orders no other access. */
static inline bool bf_flag_get(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }
static inline void bf_flag_set(bool *flag) { __atomic_store_n(flag, true, __ATOMIC_RELAXED); }
static inline void bf_flag_clear(bool *flag) { __atomic_store_n(flag, false, __ATOMIC_RELAXED); }
/* Uses a flag as a try-lock. Returns true if another thread holds the lock, else takes the lock
 * and returns false. */
static inline bool bf_flag_taken(bool *flag)
{
    return __atomic_exchange_n(flag, true, __ATOMIC_ACQUIRE);
}
static inline void bf_flag_release(bool *flag) { __atomic_store_n(flag, false, __ATOMIC_RELEASE); }
/* A full fence. On x86 a compiler fence is sufficient: x86 moves only loads before earlier stores,
 * and callers for which that would be wrong have made the store by a locked instruction. */
static inline void bf_fence(void)
{
#if defined(__x86_64__)
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
/* cas: compare and swap. If it returns false, *was is the current value. */
static inline uint64_t bf_load_acquire(const uint64_t *at)
{
    BF_STEP(at, false);
    return __atomic_load_n((const bf_shared *)at, __ATOMIC_ACQUIRE);
}
static inline uint64_t bf_add_fetch(uint64_t *at, uint64_t more) /* acquire and release */
{
    return __atomic_add_fetch((bf_shared *)at, more, __ATOMIC_ACQ_REL);
}
static inline bool bf_cas(uint64_t *at, uint64_t *was, uint64_t want) /* acquire and release */
{
    return __atomic_compare_exchange_n(
        (bf_shared *)at, was, want, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
static inline int bf_int_load_acquire(const int *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
static inline void bf_int_store_release(int *at, int value)
{
    BF_STEP(at, true);
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}
static inline bool bf_int_cas(int *at, int *was, int want) /* acquire and release */
{
    return __atomic_compare_exchange_n(at, was, want, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
/* Tries to take a lock in private memory; returns true if it was taken. *holder: bf_process() of
 * the process that holds the lock; 0: free. Storing 0 releases the lock. A forked child may take a
 * lock that its parent held at the fork, because no thread of the child would release that lock. */
static inline bool bf_try_holder(int *holder)
{
    const int me = bf_process();
    int was = 0;
    return bf_int_cas(holder, &was, me) || (was != me && bf_int_cas(holder, &was, me));
}
/* Numbers that are only hints, such as times and counts down to a check. */
static inline int64_t bf_hint_load(const int64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}
static inline void bf_hint_store(int64_t *at, int64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}
/* Threads that subtract at the same time may lose a subtraction. */
static inline void bf_hint_subtract(int64_t *at, int64_t less)
{
    bf_hint_store(at, bf_hint_load(at) - less);
}
static inline unsigned bf_uint_load_relaxed(const unsigned *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}
static inline void bf_uint_store_relaxed(unsigned *at, unsigned n)
{
    __atomic_store_n(at, n, __ATOMIC_RELAXED);
}
static inline unsigned bf_uint_load_acquire(const unsigned *at)
{
    BF_STEP(at, false);
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
static inline void bf_uint_store_release(unsigned *at, unsigned n)
{
    BF_STEP(at, true);
    __atomic_store_n(at, n, __ATOMIC_RELEASE);
    BF_STEP(at, true); /* lets tests/model switch threads right after the store */
}
/* Without the empty asm, GCC 12 removes calls of functions that only prefetch, because a prefetch
 * is no side effect. */
static inline void bf_prefetch(const void *p)
{
    __builtin_prefetch(p);
    __asm__ volatile("");
}
/* far: prefetches into the second-level cache, which is faster on some machines (cpu.c). */
static inline __attribute__((always_inline)) void bf_fetch(const void *p, bool far)
{
    if (far)
        __builtin_prefetch(p, 0, 2);
    else
        __builtin_prefetch(p);
    __asm__ volatile("");
}
/* bf_mum returns the high half XOR the low half of the 128-bit product a * b. bf_mulhi returns
 * the high half: a number below b, uniform if a is a uniform 64-bit number. */
static inline uint64_t bf_mulhi_by_halves(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t one = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)one;
    return a1 * b1 + (one >> 32) + (other >> 32);
}
#ifdef __SIZEOF_INT128__
static inline uint64_t bf_mum(uint64_t a, uint64_t b)
{
    unsigned __int128 r = (unsigned __int128)a * b;
    return (uint64_t)(r >> 64) ^ (uint64_t)r;
}
static inline uint64_t bf_mulhi(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}
#else /* 32-bit machines */
static inline uint64_t bf_mulhi(uint64_t a, uint64_t b) { return bf_mulhi_by_halves(a, b); }
static inline uint64_t bf_mum(uint64_t a, uint64_t b) { return bf_mulhi(a, b) ^ a * b; }
#endif
#define BF_MUM_1 UINT64_C(0x9E3779B97F4A7C15)
#define BF_MUM_2 UINT64_C(0xE7037ED1A0B428DB)
#endif
