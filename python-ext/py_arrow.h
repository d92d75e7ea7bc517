/* py_arrow.h - Arrow's C structs, and the interface between py_arrow.c (releases arrays) and
 * py_arrow_items.c (checks and reads arrays). */
#ifndef PY_ARROW_H
#define PY_ARROW_H
#include "py_bloomfilter.h"

/* The structs of the Arrow C data and C stream interfaces, a stable ABI that any project may
 * declare. https://arrow.apache.org/docs/format/CDataInterface.html and .../CStreamInterface.html
 * describe the members and who releases them. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *); /* NULL: it was released or moved */
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
    /* out->release is NULL if there are no more arrays */
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* ---- an array as a column ---- */
enum shape { TEXT32, TEXT64, VIEWS, NUMBERS, FIXED, NULLS, REFUSED };
typedef struct {
    enum shape shape;
    size_t width; /* for NUMBERS and FIXED: bytes per item */
    bool is_signed;
    const char *refused; /* for REFUSED: name of the type in the message */
} type;

typedef struct source source;
struct source { /* an array */
    column c;   /* must be the first member, because gather gets a pointer to the column */
    type type;
    const uint8_t *valid; /* bit i is set if item i is not null; NULL: there are no nulls */
    const char *items;    /* offsets, views, or the items themselves */
    const char *text;     /* for TEXT32 and TEXT64: the text to which offsets refer */
    const void **buffers; /* for VIEWS: the buffers to which views refer */
    const char *sizes;    /* their sizes in bytes, int64_t each */
    int64_t nbuffers;
    int64_t first, last; /* for TEXT32 and TEXT64: the lowest and highest offset */
    int64_t length;      /* number of items */
    int64_t offset;      /* index of the first item */
    source *values;      /* the values of a dictionary, if the items are indices; else NULL */
};

typedef struct { /* an array of a column, and the result of its check */
    struct ArrowArray array;
    source keys, values;
} chunk;

int damaged_arrow(const char *what, int64_t value);
/* Fills and checks `keys` and `values` of a chunk whose array is set. row: number of its first row
 * in the column. Returns 0, or -1 with an exception. */
int chunk_check(const batch *b, chunk *k, const struct ArrowSchema *schema, Py_ssize_t row);
/* returns the chunk as a column; call it after chunk_check */
column *chunk_column(const batch *b, chunk *k);
#endif
