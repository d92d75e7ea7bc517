/* arrow_abi.h - the structs of the Arrow C data and C stream interfaces.  They are a published ABI
 * that any project may declare for itself: https://arrow.apache.org/docs/format/CDataInterface.html
 * and .../CStreamInterface.html say what the members mean and who releases what.  Declarations
 * only; order and types must never change. */
#ifndef ARROW_ABI_H
#define ARROW_ABI_H
#include <stdint.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *); /* NULL = released, or moved away */
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
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out); /* 0 or an errno */
    int (*get_next)(
        struct ArrowArrayStream *, struct ArrowArray *out); /* out->release NULL = the end */
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif
