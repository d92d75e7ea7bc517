/* py_arrow.h - Arrow's C structs, and an array as a column of keys: py_arrow_items.c checks and
 * reads it for py_arrow.c. */
#ifndef PY_ARROW_H
#define PY_ARROW_H
#include "py_bloomfilter.h"

/* The structs of the Arrow C data and C stream interfaces: a published ABI that any project may
 * declare for itself.  https://arrow.apache.org/docs/format/CDataInterface.html and
 * .../CStreamInterface.html describe the members and who releases what.  Order and types must never
 * change. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *); /* NULL: released, or moved */
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    /* returns 0 or an errno */
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    /* out->release NULL: no more arrays */
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* ---- an array as a column ---- */
enum shape { TEXT32, TEXT64, VIEWS, NUMBERS, FIXED, NULLS, REFUSED };
typedef struct {
    enum shape shape;
    size_t width; /* NUMBERS, FIXED: bytes per item */
    bool is_signed;
    const char *refused; /* the type's name in the message of a refusal */
} type;

typedef struct source source;
struct source { /* an array; items are counted from `offset` */
    column c;   /* the first member, because gather gets a column */
    type type;
    const uint8_t *valid; /* bit i: item i is not null; NULL: no nulls */
    const char *items;    /* offsets, views or the items themselves        */
    const char *text;     /* TEXT: what offsets point into                 */
    const void **parts;   /* VIEWS: buffers that views refer to, and their sizes */
    const char *sizes;
    int64_t first, last; /* TEXT: range of the text's offsets */
    int64_t nparts, length, offset, next;
    source *values; /* a dictionary's values; the items are then indices */
};

typedef struct { /* an array of a column, with the result of its check */
    struct ArrowArray array;
    source keys, values;
} chunk;

int damaged_arrow(const char *what, int64_t value);
/* Fills keys and values of a chunk whose array is set, and checks them. row: the number of its
 * first item. skip: nulls are skipped; otherwise they are a TypeError.  Returns 0, or -1 with an
 * exception. */
int chunk_check(chunk *k, const struct ArrowSchema *schema, bool skip, Py_ssize_t row);
/* the chunk as a column, after chunk_check */
column *chunk_column(chunk *k);
#endif
