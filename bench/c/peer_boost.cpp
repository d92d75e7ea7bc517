/* peer_boost.cpp - Boost.Bloom beside ours: the same hash of the same keys, the same huge pages,
 * its calls inlined into the loops as a C++ program has them. */
#define XXH_INLINE_ALL
#include "peer_boost.h"
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/bloom/filter.hpp>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <xxhash.h>

namespace
{
struct xxh3 {
    using is_avalanching = void;
    std::size_t operator()(const bf_key &key) const { return XXH3_64bits(key.ptr, key.len); }
};

template <class T> struct huge_pages {
    using value_type = T;
    static constexpr std::size_t huge = 2 << 20;
    huge_pages() = default;
    template <class U> huge_pages(const huge_pages<U> &) {}
    T *allocate(std::size_t n)
    {
        const std::size_t bytes = (n * sizeof(T) + huge - 1) / huge * huge;
        void *p = std::aligned_alloc(huge, bytes);
        if (!p) throw std::bad_alloc();
        madvise(p, bytes, MADV_HUGEPAGE);
        return static_cast<T *>(p);
    }
    void deallocate(T *p, std::size_t) { std::free(p); }
    template <class U> bool operator==(const huge_pages<U> &) const { return true; }
    template <class U> bool operator!=(const huge_pages<U> &) const { return false; }
};

volatile std::uint64_t sink;

template <class F> struct kind {
    static F &of(void *f) { return *static_cast<F *>(f); }
    static void *make(std::uint64_t m) { return new F(m); }
    static void empty(void *f) { of(f).clear(); }
    static void test_one(void *f, const bf_key *keys, std::size_t n)
    {
        std::uint64_t s = 0;
        for (std::size_t i = 0; i < n; i++) s += of(f).may_contain(keys[i]);
        sink = sink + s;
    }
    static void add_one(void *f, const bf_key *keys, std::size_t n)
    {
        for (std::size_t i = 0; i < n; i++) of(f).insert(keys[i]);
    }
    static void test_many(void *f, const bf_key *keys, std::size_t n)
    {
        std::uint64_t s = 0;
        of(f).may_contain(keys, keys + n, [&](const bf_key &, bool there) { s += there; });
        sink = sink + s;
    }
    static void add_many(void *f, const bf_key *keys, std::size_t n)
    {
        of(f).insert(keys, keys + n);
    }
    static constexpr peer_boost row(const char *name)
    {
        return { name, make, empty, { test_one, add_one, test_many, add_many } };
    }
};

template <std::size_t k, class sub>
using filter = boost::bloom::filter<bf_key, k, sub, 0, xxh3, huge_pages<unsigned char>>;
} // namespace

extern "C" {
const peer_boost peer_boost_kinds[] = {
    kind<filter<1, boost::bloom::fast_multiblock64<8>>>::row("Boost fast_multiblock64 k=8"),
    kind<filter<7, boost::bloom::block<unsigned char, 1>>>::row("Boost classic k=7"),
};
const std::size_t peer_boost_count = sizeof peer_boost_kinds / sizeof *peer_boost_kinds;
}
