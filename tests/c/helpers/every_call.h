/* every_call.h - each call of a filter, beside another filter of the same kind, for tests of what
 * all of them answer where a filter is damaged, lost or in use. */
#ifndef EVERY_CALL_H
#define EVERY_CALL_H
#include "must.h"

static bf_error *heard = &e; /* may be NULL */
static uint8_t call_bytes[1 << 23];

static inline int64_t made_or_not(bf_filter *made)
{
    bf_close(made);
    return made ? 0 : heard ? heard->code : BF_EIO;
}
static inline int64_t call_add(bf_filter *f, bf_filter *o) { return bf_add(f, "z", 1, heard); }
static inline int64_t call_test(bf_filter *f, bf_filter *o) { return bf_test(f, "z", 1, heard); }
static inline int64_t call_hashcode(bf_filter *f, bf_filter *o)
{
    uint64_t pos[64];
    return bf_hashcode(f, "z", 1, pos, 64, heard);
}
static inline int64_t call_add_many(bf_filter *f, bf_filter *o)
{
    return bf_add_many(f, &(bf_key){ "z", 1 }, 1, NULL, heard);
}
static inline int64_t call_test_many(bf_filter *f, bf_filter *o)
{
    return bf_test_many(f, &(bf_key){ "z", 1 }, 1, NULL, heard);
}
static inline int64_t call_clear(bf_filter *f, bf_filter *o) { return bf_clear(f, heard); }
static inline int64_t call_sync(bf_filter *f, bf_filter *o) { return bf_sync(f, heard); }
static inline int64_t call_copy(bf_filter *f, bf_filter *o)
{
    return made_or_not(bf_copy(f, heard));
}
static inline int64_t call_to_plain(bf_filter *f, bf_filter *o)
{
    return made_or_not(bf_to_plain(f, heard));
}
static inline int64_t call_rebuild(bf_filter *f, bf_filter *o)
{
    return made_or_not(bf_rebuild_begin(f, heard));
}
static inline int64_t call_state(bf_filter *f, bf_filter *o)
{
    bf_state state;
    return bf_get_state(f, &state, heard);
}
static inline int64_t call_part(bf_filter *f, bf_filter *o)
{
    bf_part_info part;
    return bf_get_part(f, 0, &part, heard);
}
static inline int64_t call_saturated(bf_filter *f, bf_filter *o)
{
    uint64_t wait;
    return bf_saturated(f, &wait, heard);
}
static inline int64_t call_read_bits(bf_filter *f, bf_filter *o)
{
    return bf_read_bits(f, 0, call_bytes, 1, heard);
}
static inline int64_t call_to_bytes(bf_filter *f, bf_filter *o)
{
    return bf_to_bytes(f, call_bytes, sizeof call_bytes, heard);
}
static inline int64_t call_length(bf_filter *f, bf_filter *o)
{
    return bf_bytes_as(f, NULL, heard);
}
static inline int64_t call_to_bytes_as(bf_filter *f, bf_filter *o)
{
    return bf_to_bytes_as(f, NULL, call_bytes, sizeof call_bytes, heard);
}
static inline int64_t call_save(bf_filter *f, bf_filter *o)
{
    return bf_save(f, "/nonexistent/folder/file", heard);
}
static inline int64_t call_unite(bf_filter *f, bf_filter *o) { return bf_unite(f, o, heard); }
static inline int64_t call_united(bf_filter *f, bf_filter *o) { return bf_unite(o, f, heard); }
static inline int64_t call_itself(bf_filter *f, bf_filter *o) { return bf_unite(f, f, heard); }
static inline int64_t call_equal(bf_filter *f, bf_filter *o) { return bf_equal(f, o, heard); }
static inline int64_t call_equalled(bf_filter *f, bf_filter *o) { return bf_equal(o, f, heard); }
static inline int64_t call_subset(bf_filter *f, bf_filter *o) { return bf_subset(o, f, heard); }
static inline int64_t call_union_count(bf_filter *f, bf_filter *o)
{
    double count;
    return bf_union_count(f, o, &count, heard);
}
static inline int64_t call_intersection_count(bf_filter *f, bf_filter *o)
{
    double count;
    return bf_intersection_count(o, f, &count, heard);
}

enum { ONE_KEY = 1, ONE_PART = 2, COUNTS = 4, OF_PARTS = 8, NO_FILE = 16 };
/* is: takes a single key; is for filters of one part, for those that count; what it says of one
 * part, of a file's length, needs no look at the file. */
static const struct {
    const char *name;
    int64_t (*run)(bf_filter *f, bf_filter *other);
    int is;
} every_call[] = { { "add", call_add, ONE_KEY }, { "test", call_test, ONE_KEY },
    { "hashcode", call_hashcode, ONE_KEY | NO_FILE }, { "add_many", call_add_many, 0 },
    { "test_many", call_test_many, 0 }, { "clear", call_clear, 0 }, { "sync", call_sync, 0 },
    { "copy", call_copy, 0 }, { "to_plain", call_to_plain, COUNTS },
    { "rebuild_begin", call_rebuild, ONE_PART }, { "state", call_state, 0 },
    { "get_part", call_part, OF_PARTS }, { "saturated", call_saturated, 0 },
    { "read_bits", call_read_bits, 0 }, { "to_bytes", call_to_bytes, 0 },
    { "length", call_length, OF_PARTS }, { "to_bytes_as", call_to_bytes_as, 0 },
    { "save", call_save, 0 }, { "unite", call_unite, 0 }, { "united", call_united, 0 },
    { "itself", call_itself, NO_FILE }, { "equal", call_equal, 0 },
    { "equalled", call_equalled, 0 }, { "subset", call_subset, ONE_PART },
    { "union_count", call_union_count, ONE_PART },
    { "intersection_count", call_intersection_count, ONE_PART } };
enum { EVERY_CALL = COUNT(every_call) };
#endif
