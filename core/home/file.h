/* file.h - what file.c, writer.c and file_parts.c share of a mapped file.  Private. */
#ifndef BF_STORE_FILE_H
#define BF_STORE_FILE_H
#include "parts/filter.h"
#include <fcntl.h>
#include <sys/stat.h>

typedef struct {
    uint64_t device, inode, born, born_ns;
} bf_identity; /* born 0: not told */
typedef struct bf_listed {
    struct bf_listed *next;
    bf_identity id;
} bf_listed;
typedef struct bf_file {
    int descriptor; /* of the file, or -1; used through bf_file_fd */
    uint8_t *map; /* header page, then the words; of a filter of many parts the first page alone */
    uint64_t mapped, bytes; /* of map; that the file must have                        */
    bf_stamp stamp;         /* of the header as it was opened                         */
    bf_identity id;
    uint8_t *packed; /* the compact image that the file is a copy of, with pages; NULL: none */
    uint64_t packed_len;
    bf_identity made;      /* the file that this opening made; all zeros: none       */
    char *path, *absolute; /* as given; the same from the root on, where the name is looked up */
    bf_listed open;        /* in the list of files open for writing, if listed                 */
    bool listed;
    void *alone;      /* the map that holds an exclusive writer's lock, or NULL             */
    int process;      /* bf_process() of the one that opened it                             */
    uint64_t *shadow; /* its map, or NULL: shadow.c */
    size_t shadow_bytes;
    void *maker; /* a map whose lock says that the process that rebuilds lives, or NULL */
    int alone_fd, maker_fd; /* their descriptors where a map keeps no lock, else 0 */
    int maker_process;      /* that made it: a child of fork does not have the map        */
} bf_file;

/* descriptor.c: whoever needs a descriptor of the file gets it here, because the program may have
 * closed the one that was opened.  It, and what fstat says of it (st NULL: not needed), or an
 * error. */
int bf_file_fd(const bf_file *f, struct stat *st, bf_error *err);
/* Another description of the file, marked, or an error; flags of open(2). */
int bf_file_again(const bf_file *f, int flags, bf_error *err);
/* Marks fd as a description of this handle: 0 or errno.  Is it marked?  Closes it if it is. */
int bf_file_mark(const bf_file *f, int fd);
bool bf_file_owns(const bf_file *f, int fd);
void bf_file_close(const bf_file *f, int fd);

/* writer.c.  Which file is it, and how long?  fd with an empty name, or a path; false: errno. */
bool bf_identify(int fd, const char *path, bf_identity *id, uint64_t *bytes);
/* The lock of writers, shared or alone: 0, or BF_EBUSY, which names who has it. */
int bf_file_write_shared(const bf_file *f, bf_error *err);
int bf_file_write_alone(bf_file *f, bf_error *err);
void bf_file_end_alone(bf_file *f);
/* Closes a descriptor whose lock its map keeps.  On overlayfs and FUSE a map is of another file
 * than the descriptor and keeps no lock: there it stays open, and is returned; else 0. */
int bf_close_mapped(int fd);
/* The files that this process has open for writing.  refuse: BF_EBUSY where path leads to one. */
void bf_listed_add(bf_listed *f, const bf_identity *id);
void bf_listed_drop(bf_listed *f);
int bf_refuse_open_file(const char *path, bf_error *err);

/* packed.c: makes fd, of a file of so many bytes, a copy with pages; how long that is. */
int bf_packed_open(bf_file *f, uint64_t *len, bf_error *err);
bool bf_packed_same(const bf_file *f); /* is the image under its name still what was opened? */

/* file.c: room for what of these bytes is a hole. */
int bf_file_room(const bf_store *s, uint64_t at, uint64_t bytes, bf_error *err);
/* Bytes of a file that others may cut short: an access through a map would be SIGBUS. */
int bf_file_read(const bf_file *f, uint64_t at, void *buf, uint64_t len, bf_error *err);
typedef struct {
    const bf_file *file;
    uint64_t at; /* of the first word, in bytes */
    bf_error *err;
    uint64_t room[BF_BLOCK];
} bf_file_words;
const uint64_t *bf_file_block(void *words, uint64_t at, uint64_t n);
/* file_parts.c */
int bf_chain_file_fill(int fd, const bf_desc *d, const char *path, bf_error *err);
void bf_file_end_shadow(bf_file *file); /* shadow.c: at the end of the handle */
#endif
