/* py_arrow_items.c - reads and checks an Arrow array as a column of keys. Missing buffers,
 * decreasing offsets and nulls are detected before the first key is used, wrong views and
 * dictionary indices when their row is read. An offset past the text buffer cannot be detected,
 * because the interface has no length of that buffer. */
#include "py_arrow.h"

/* ---- one item ---- */
static int32_t load32(const char *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static int64_t load64(const char *p)
{
    int64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline int64_t offset_at(const source *s, bool wide, int64_t i)
{
    return wide ? load64(s->items + 8 * i) : load32(s->items + 4 * i);
}

/* Reads a text. Checks its offsets again: a thread of the producer may have changed them. */
static inline bool text_at(const source *s, bool wide, int64_t i, bf_key *key)
{
    const int64_t start = offset_at(s, wide, i), end = offset_at(s, wide, i + 1);
    *key = (bf_key){ s->text + start, (size_t)(end - start) };
    return s->first <= start && start <= end && end <= s->last;
}

/* Reads a view of 16 bytes: length, then a text of up to 12 bytes; or length, prefix of the text,
 * buffer number, offset. */
static enum column_fault view_at(const source *s, int64_t i, bf_key *key)
{
    enum { INSIDE = 12 };
    const char *view = s->items + 16 * i;
    int64_t len = load32(view), number = load32(view + 8), place = load32(view + 12);
    *key = (bf_key){ view + 4, (size_t)len };
    if (len >= 0 && len <= INSIDE) return FAULT_NONE;
    if (len < 0 || number < 0 || number >= s->nbuffers || place < 0) return FAULT_DAMAGED;
    int64_t size = load64(s->sizes + 8 * number);
    if (place > size || len > size - place) return FAULT_DAMAGED;
    key->ptr = (const char *)s->buffers[number] + place;
    return s->buffers[number] ? FAULT_NONE : FAULT_DAMAGED;
}

static inline bool is_valid(const source *s, int64_t i)
{
    return s->type.shape != NULLS && (!s->valid || (s->valid[i >> 3] >> (i & 7) & 1));
}

static enum column_fault key_at(const source *s, int64_t i, batch *b, bf_key *key)
{
    const type *t = &s->type;
    switch (t->shape) {
    case TEXT32:
    case TEXT64: return text_at(s, t->shape == TEXT64, i, key) ? FAULT_NONE : FAULT_DAMAGED;
    case VIEWS: return view_at(s, i, key);
    case FIXED: *key = (bf_key){ s->items + (int64_t)t->width * i, t->width }; break;
    default:
        *key = (bf_key){ b->room + b->used, number_text(s->items + (int64_t)t->width * i, t->width,
                                                t->is_signed, false, b->room + b->used) };
        b->used += key->len;
    }
    return FAULT_NONE;
}

/* ---- gathering items ---- */
static void stop(column *c, enum column_fault fault, const char *what, int64_t value)
{
    c->left = 0;
    c->fault = fault;
    c->what = what;
    c->value = value;
}

static inline size_t pick_text(const column *c, size_t from, size_t n, bf_key *keys, bool wide)
{
    const source *s = (const source *)c;
    const int64_t first = c->next + (int64_t)from;
    size_t i = 0;
    while (i < n && text_at(s, wide, first + (int64_t)i, &keys[i])) i++;
    return i;
}
static size_t pick_text32(const column *c, size_t from, size_t n, bf_key *keys, char *text)
{
    (void)text;
    return pick_text(c, from, n, keys, false);
}
static size_t pick_text64(const column *c, size_t from, size_t n, bf_key *keys, char *text)
{
    (void)text;
    return pick_text(c, from, n, keys, true);
}

static size_t pick_views(const column *c, size_t from, size_t n, bf_key *keys, char *text)
{
    const source *s = (const source *)c;
    const int64_t first = c->next + (int64_t)from;
    size_t i = 0;
    (void)text;
    while (i < n && view_at(s, first + (int64_t)i, &keys[i]) == FAULT_NONE) i++;
    return i;
}

/* An unsigned index of 2^63 or more becomes negative; both are out of range. */
static int64_t index_at(const source *s, int64_t i)
{
    const size_t width = s->type.width;
    return (int64_t)load_number(s->items + (int64_t)width * i, width, s->type.is_signed, false);
}

/* Returns the item's index in the dictionary, or -1 if it is out of range. */
static inline int64_t value_at(const source *s, int64_t i)
{
    const int64_t at = index_at(s, i);
    return at < 0 || at >= s->values->length ? -1 : s->values->offset + at;
}

static inline bool is_null_row(const source *s, int64_t i)
{
    if (!is_valid(s, i)) return true;
    return s->values && (i = value_at(s, i)) >= 0 && !is_valid(s->values, i);
}

/* gathers keys of dictionaries, and keys and hashes of columns with nulls */
static void gather_rows(batch *b, column *c)
{
    source *s = (source *)c;
    b->hashes = b->room_for_hashes;
    const source *from = s->values ? s->values : s;
    for (; b->n < b->most && b->nulls < BATCH_KEYS && b->used + DECIMAL_MAX <= b->space && c->left;
        c->left--, c->next++) {
        int64_t i = c->next;
        bool there = is_valid(s, i);
        if (there && s->values) {
            i = value_at(s, i);
            there = i < 0 || is_valid(from, i);
        }
        if (!there) {
            batch_null(b);
            continue;
        }
        if (i < 0) {
            stop(c, FAULT_DAMAGED, "an index into its dictionary is", index_at(s, c->next));
            return;
        }
        if (b->hashed)
            b->room_for_hashes[b->n] = (uint64_t)load64(from->items + 8 * i);
        else if (key_at(from, i, b, &b->keys[b->n]) != FAULT_NONE) {
            stop(c, FAULT_DAMAGED, "an item points outside its buffers, item", i - from->offset);
            return;
        }
        b->n++;
    }
}

/* ---- the type of a column ---- */
static type refused(const char *what) { return (type){ .shape = REFUSED, .refused = what }; }

static type read_type(const char *f)
{
    static const char numbers[] = "cCsSiIlL";
    if (*f && f[1] && !strchr("vwd+t", *f)) f = "";
    const char *const number = *f ? strchr(numbers, *f) : NULL;
    char *end = NULL;
    switch (number ? *numbers : *f) {
    case 'c':
        return (type){ .shape = NUMBERS,
            .width = (size_t)1 << (number - numbers) / 2,
            .is_signed = (number - numbers) % 2 == 0 };
    case 'u':
    case 'z': return (type){ .shape = TEXT32 };
    case 'U':
    case 'Z': return (type){ .shape = TEXT64 };
    case 'v':
        if (!strcmp(f, "vu") || !strcmp(f, "vz")) return (type){ .shape = VIEWS };
        break;
    case 'w': {
        const unsigned long width = f[1] == ':' ? strtoul(f + 2, &end, 10) : 0;
        if (end && end != f + 2 && !*end && width <= INT32_MAX)
            return (type){ .shape = FIXED, .width = width };
        break;
    }
    case 'n': return (type){ .shape = NULLS };
    case 'b': return refused("bool");
    case 'e':
    case 'f':
    case 'g': return refused("float");
    case 'd': return refused("decimal");
    case 't': return refused("a date or time");
    }
    if (!strcmp(f, "+s")) return refused("a struct: pass one of its fields");
    if (!strcmp(f, "+r"))
        return refused("run-end encoded: pass pyarrow.compute.run_end_decode(keys)");
    if (!strncmp(f, "+u", 2)) return refused("a union: pass one of its fields");
    if (*f == '+') return refused("a list: pass its items as one column");
    return refused("an Arrow type that this version does not know");
}

/* An extension type (arrow.uuid, polars' objects) is not what its bytes seem to be. metadata: the
 * number of pairs, then the length and the bytes of each name and value. */
static bool is_extension(const char *metadata)
{
    static const char extension[] = "ARROW:extension:name";
    const int32_t pairs = metadata ? load32(metadata) : 0;
    const char *at = metadata + 4;
    for (int32_t i = 0, len = 0; i / 2 < pairs && len >= 0; i++, at += 4 + len) {
        len = load32(at);
        if (i % 2 == 0 && len == sizeof extension - 1 && !memcmp(at + 4, extension, (size_t)len))
            return true;
    }
    return false;
}

static type type_of(const struct ArrowSchema *schema)
{
    if (is_extension(schema->metadata))
        return refused("an Arrow extension type: convert it to text or pass its storage");
    return schema->format ? read_type(schema->format) : refused("an Arrow column without a type");
}

/* ---- checking an array ---- */
int damaged_arrow(const char *what, int64_t value)
{
    PyErr_Format(PyExc_ValueError, "damaged Arrow data: %s %lld", what, (long long)value);
    return -1;
}

/* Returns the index of the first offset below its predecessor (or below 0), or length + 1. Sets
 * s->first and s->last. */
static inline int64_t rising(source *s, bool wide)
{
    enum { AT_ONCE = 256 }; /* offsets that are compared without a branch */
    int64_t last = offset_at(s, wide, s->offset), i = 1;
    s->first = s->last = last;
    if (last < 0) return 0;
    for (unsigned falls = 0; s->length - i >= AT_ONCE; i += AT_ONCE) {
        for (int64_t j = s->offset + i; j < s->offset + i + AT_ONCE; j++)
            falls |= offset_at(s, wide, j) < offset_at(s, wide, j - 1);
        if (falls) break;
    }
    last = offset_at(s, wide, s->offset + i - 1);
    for (; i <= s->length; i++) {
        int64_t at = offset_at(s, wide, s->offset + i);
        if (at < last) return i;
        last = at;
    }
    s->last = last;
    return i;
}

static bool may_have_nulls(const source *s) { return s->valid || s->type.shape == NULLS; }

/* Returns the row of the first null, or length. */
static int64_t first_null(const source *s)
{
    int64_t i = s->offset, end = s->offset + s->length;
    if (!may_have_nulls(s) && !(s->values && may_have_nulls(s->values))) return s->length;
    for (; i < end && !is_null_row(s, i); i++)
        if (!s->values && (i & 7) == 0 && end - i >= 8 && s->valid[i >> 3] == 0xFF) i += 7;
    return i - s->offset;
}

static int check_text(source *s, Py_ssize_t row)
{
    int64_t good;
    bool wide = s->type.shape == TEXT64;
    if (!s->items) return damaged_arrow("no offsets, buffers given:", 0);
    Py_BEGIN_ALLOW_THREADS good = wide ? rising(s, true) : rising(s, false);
    Py_END_ALLOW_THREADS if (good <= s->length)
    {
        damaged_arrow("offsets begin below 0 or decrease, at offset", good);
        name_key(row + (Py_ssize_t)(good ? good - 1 : 0));
        return -1;
    }
    if (s->last > PY_SSIZE_T_MAX) return damaged_arrow("its text ends at", s->last);
    if (s->text) return 0;
    s->text = "";
    return s->first == s->last ? 0 : damaged_arrow("no text, buffers given:", 2);
}

static int check_buffers(source *s, const struct ArrowArray *a)
{
    if (a->length < 0 || a->length > PY_SSIZE_T_MAX)
        return damaged_arrow("its length is", a->length);
    /* byte offsets of items must not overflow; a view has 16 bytes */
    int64_t most = PY_SSIZE_T_MAX / (s->type.width > 16 ? (int64_t)s->type.width : 16);
    if (a->offset < 0 || a->offset >= most - a->length)
        return damaged_arrow("its offset is", a->offset);
    s->length = a->length;
    s->offset = a->offset;
    if (s->type.shape == NULLS) return 0;
    if (a->n_buffers < (s->type.shape == NUMBERS || s->type.shape == FIXED ? 2 : 3) || !a->buffers)
        return damaged_arrow("too few buffers:", a->n_buffers);
    s->valid = a->null_count == 0 ? NULL : a->buffers[0];
    s->items = a->buffers[1];
    if (a->null_count > 0 && !s->valid)
        return damaged_arrow("no bitmap for its nulls, of which there are", a->null_count);
    return 0;
}

static int read_array(source *s, const struct ArrowArray *a, Py_ssize_t row)
{
    if (check_buffers(s, a) < 0) return -1;
    if (s->length == 0 || s->type.shape == NULLS) return 0;
    switch (s->type.shape) {
    case TEXT32:
    case TEXT64: s->text = a->buffers[2]; return check_text(s, row);
    case VIEWS:
        s->nbuffers = a->n_buffers - 3;
        s->buffers = a->buffers + 2;
        s->sizes = a->buffers[a->n_buffers - 1];
        if (s->nbuffers > 0 && !s->sizes)
            return damaged_arrow("no sizes of its buffers, of which there are", s->nbuffers);
        break;
    default: break;
    }
    return s->items || (s->type.shape == FIXED && s->type.width == 0)
               ? 0
               : damaged_arrow("no items, buffers given:", 1);
}

column *chunk_column(const batch *b, chunk *k)
{
    static size_t (*const pick[])(const column *, size_t, size_t, bf_key *, char *) = { pick_text32,
        pick_text64, pick_views, pick_numbers, pick_bytes };
    source *s = &k->keys;
    column *c = &s->c;
    const bool rows = s->values || s->valid || s->type.shape >= NULLS,
               hashes = b->hashed && s->type.shape == NUMBERS;
    c->pick = rows || hashes ? NULL : pick[s->type.shape];
    c->gather = rows ? gather_rows : hashes ? gather_hashes : gather_picked;
    c->converts = s->type.shape == NUMBERS;
    c->what = s->type.shape == VIEWS ? "a view points outside its buffers, item"
                                     : "offsets changed while they were read, at offset";
    c->next = s->offset;
    c->width = s->type.width;
    c->stride = (Py_ssize_t)c->width;
    c->is_signed = s->type.is_signed;
    c->at = s->items + (int64_t)c->width * s->offset;
    c->left = (Py_ssize_t)s->length;
    return c;
}

/* ---- checking a chunk ---- */
static int refuse(enum column_fault fault, const char *what, Py_ssize_t row)
{
    const column c = { .fault = fault, .what = what };
    return column_refuse(&c, row);
}

static int check_dictionary(chunk *k, const struct ArrowSchema *schema, Py_ssize_t row)
{
    const struct ArrowArray *dictionary = k->array.dictionary;
    k->values.type = type_of(schema->dictionary);
    /* without values the type does not matter: pandas gives floats for a column of nulls only */
    if (dictionary && dictionary->length == 0) k->values.type = (type){ .shape = NULLS };
    if (k->values.type.shape == REFUSED) return 0;
    if (schema->dictionary->dictionary || k->keys.type.shape != NUMBERS || !dictionary)
        return damaged_arrow("no dictionary, length", k->array.length);
    return read_array(&k->values, dictionary, row);
}

static int check_nulls(chunk *k, bool skip, Py_ssize_t row)
{
    int64_t null;
    source *s = &k->keys;
    Py_BEGIN_ALLOW_THREADS null = first_null(s);
    Py_END_ALLOW_THREADS if (null < s->length) return skip
        ? 0
        : refuse(FAULT_NULL, NULL, row + (Py_ssize_t)null);
    s->valid = k->values.valid = NULL;
    return 0;
}

int chunk_check(const batch *b, chunk *k, const struct ArrowSchema *schema, Py_ssize_t row)
{
    k->keys = (source){ .type = type_of(schema) };
    k->values = (source){ .type = { .shape = TEXT32 } };
    const type *t = &k->keys.type;
    if (b->hashed && k->array.length > 0 && t->shape != NULLS &&
        (t->shape != NUMBERS || t->width != sizeof(uint64_t) || schema->dictionary))
        return refuse_hashes("an Arrow array of another type");
    if (k->keys.type.shape != REFUSED && schema->dictionary && check_dictionary(k, schema, row) < 0)
        return -1;
    const char *refused = k->keys.type.refused ? k->keys.type.refused : k->values.type.refused;
    if (refused) return k->array.length > 0 ? refuse(FAULT_TYPE, refused, row) : 0;
    if (read_array(&k->keys, &k->array, row) < 0) return -1;
    if (k->keys.length > PY_SSIZE_T_MAX - row) return damaged_arrow("rows in all, after", row);
    if (schema->dictionary) k->keys.values = &k->values;
    return check_nulls(k, b->skip_nulls, row);
}
