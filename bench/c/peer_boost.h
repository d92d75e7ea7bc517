/* peer_boost.h - Boost.Bloom's filters as bench_core.c calls them. */
#ifndef PEER_BOOST_H
#define PEER_BOOST_H
#include "../../core/bloomfilter.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct {
    const char *name;
    void *(*make)(uint64_t m);
    void (*empty)(void *filter);
    /* test and add, a key a call and in bulk */
    void (*calls[4])(void *filter, const bf_key *keys, size_t n);
} peer_boost;
extern const peer_boost peer_boost_kinds[];
extern const size_t peer_boost_count;
#ifdef __cplusplus
}
#endif
#endif
