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
/* A lock on bytes of the file that ends with this process, even while a child of fork lives: a map
 * that fork does not hand on keeps its description.  On overlayfs and FUSE a map is of another file
 * than the descriptor and keeps no lock: there the descriptor stays open, else fd is 0. */
typedef struct {
    void *map; /* NULL: not held */
    int fd, process;
} bf_process_lock;
/* A part of the file in memory, or all of a fixed filter: a header page and the words behind it.
 * It is the first member of what s->impl points to. */
typedef struct {
    uint8_t *page;
    void *map; /* begins where the machine's pages do, at the page or before it */
    size_t mapped;
    const struct bf_file *file;
    uint64_t at; /* of the page in the file */
} bf_file_map;
typedef struct bf_file {
    bf_file_map first; /* its first page; of a fixed filter also the words                 */
    int descriptor;    /* of the file, or -1; used through bf_file_fd */
    uint32_t number;   /* marks its descriptors: descriptor.c          */
    uint64_t bytes;    /* that the file must have */
    bf_stamp stamp;    /* of the header as it was opened */
    bf_identity id;
    bf_identity made;      /* the file that this opening made; all zeros: none       */
    char *path, *absolute; /* as given; the same from the root on, where the name is looked up */
    bf_listed open;        /* in the list of files open for writing, if listed                 */
    bool listed;
    uint64_t *shadow; /* its map, or NULL: shadow.c */
    size_t shadow_bytes;
    bf_process_lock alone; /* this handle is the exclusive writer                    */
    bf_process_lock maker; /* the process that rebuilds it, which is this one, lives */
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
/* 0, a negative code, or an errno: EAGAIN where another description has the lock, ENOSYS where the
 * system has no such locks.  flags of open(2). */
int bf_process_lock_take(
    const bf_file *f, bf_process_lock *h, struct flock lock, int flags, bf_error *err);
void bf_process_lock_drop(const bf_file *f, bf_process_lock *h);
/* The files that this process has open for writing.  refuse: BF_EBUSY where path leads to one. */
void bf_listed_add(bf_listed *f, const bf_identity *id);
void bf_listed_drop(bf_listed *f);
int bf_refuse_open_file(const char *path, bf_error *err);

/* file.c: maps so many bytes from there on into m, and sets s->words. */
int bf_file_map_at(
    const bf_file *f, bf_file_map *m, uint64_t at, uint64_t bytes, bf_store *s, bf_error *err);
/* What the stores of a fixed filter and of a part do with their map. */
int bf_map_before_write(bf_store *s, bf_error *err);
int bf_map_sync(bf_store *s, bf_error *err);
int bf_map_read(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err);
/* Room for what of these bytes is a hole. */
int bf_file_room(const bf_store *s, uint64_t at, uint64_t bytes, bf_error *err);
/* Bytes of a file that others may cut short: an access through a map would be SIGBUS. */
int bf_file_read(const bf_file *f, uint64_t at, void *buf, uint64_t len, bf_error *err);
/* Do the words behind a mapped page agree with it?  Reads them from the file. */
int bf_map_verify(const bf_file_map *m, uint64_t nwords, bf_error *err);
/* file_parts.c */
int bf_chain_file_fill(int fd, const bf_params *d, const char *path, bf_error *err);
void bf_file_end_shadow(bf_file *file); /* shadow.c: at the end of the handle */
#endif
