/* file.h - declarations that the files about mapped files share. Private. */
#ifndef BF_STORE_FILE_H
#define BF_STORE_FILE_H
#include "base/os.h"
#include "parts/filter.h"
#include <fcntl.h>
#include <sys/stat.h>

typedef struct bf_listed {
    struct bf_listed *next;
    bf_identity id;
} bf_listed;
/* A lock on a byte range of the file. A map that fork does not copy holds the lock, so the lock
 * ends with this process even if a forked child lives longer. On overlayfs and FUSE a descriptor
 * holds the lock: if this process dies, children with a copy of the descriptor keep the lock. */
typedef struct {
    void *map;   /* NULL: not locked */
    int fd;      /* the descriptor that holds the lock; 0: the map holds the lock */
    int process; /* bf_process() of the process that took the lock */
} bf_process_lock;
/* A map of a header page and of the words after it (a fixed filter or a part). s->impl points to a
 * bf_file_map, or to a struct that begins with one. */
typedef struct {
    uint8_t *page;
    void *map;     /* start of the mapping; before `page` if system pages are above 4096 bytes */
    size_t mapped; /* length of the mapping in bytes */
    const struct bf_file *file;
    uint64_t at; /* file offset of the header page */
} bf_file_map;
typedef struct bf_file {
    bf_file_map first; /* the first header page; in a fixed filter also the words */
    int descriptor;    /* -1: none; call bf_file_fd to use it */
    uint64_t bytes;    /* least valid length of the file: the end of the last part, in bytes */
    bf_stamp stamp;    /* bf_header_stamp() of the first page at opening */
    bf_identity id;
    bf_identity made; /* identity of the file that this opening created, or zeros */
    char *path;       /* as given */
    char *absolute;   /* made absolute at opening, to find the name after chdir() */
    /* entry in the list of files that are open for writing; used only if `listed` */
    bf_listed open;
    bool listed;
    uint64_t *shadow; /* map of the shadow, or NULL (shadow.c) */
    size_t shadow_bytes;
    bf_process_lock alone; /* the lock of an exclusive writer */
    bf_process_lock maker; /* held while this process rebuilds the file (shadow.c) */
} bf_file;

/* descriptor.c: returns the file's descriptor, or an error if the program has closed the
 * descriptor. Fills *st unless st is NULL. */
int bf_file_fd(const bf_file *f, struct stat *st, bf_error *err);
/* Returns that error; e: errno of fstat, 0 if the descriptor leads to another file. */
int bf_file_lost_fd(const bf_file *f, int e, bf_error *err);
/* Opens the file a second time, with these flags of open(2). Returns the descriptor, or -1 and
 * errno. Call bf_file_fd and then bf_hold_forks first. */
int bf_file_again(const bf_file *f, int flags);
/* Closes fd (-1: none) if it leads to this file. */
void bf_file_close(const bf_file *f, int fd);

/* writer.c: take the writers' lock, shared or exclusive. Return 0 or an error; BF_EBUSY: another
 * handle has the lock, and the message names its process if it still has the lock. */
int bf_file_write_shared(const bf_file *f, bf_error *err);
int bf_file_write_alone(bf_file *f, bf_error *err);
/* Takes a lock with a new open file description, opened with these flags. Returns 0, a negative
 * code, or an errno. EAGAIN: another open file description holds the lock. ENOSYS: the file system
 * has no locks of open file descriptions. */
int bf_process_lock_take(
    const bf_file *f, bf_process_lock *h, struct flock lock, int flags, bf_error *err);
void bf_process_lock_drop(const bf_file *f, bf_process_lock *h);
/* The list of files that this process has open for writing. Whoever enters a file afterwards
 * checks that its name still leads to it, because bf_replace_file may have replaced it before. */
void bf_listed_add(bf_listed *f, const bf_identity *id);
void bf_listed_drop(bf_listed *f);
/* Renames temp to path. Returns BF_EBUSY if path leads to a file in the list. temp NULL: only
 * checks that. */
int bf_replace_file(const char *temp, const char *path, bf_error *err);

/* file.c: maps `bytes` bytes at file offset `at` into m, and sets s->words. */
int bf_file_map_at(
    const bf_file *f, bf_file_map *m, uint64_t at, uint64_t bytes, bf_store *s, bf_error *err);
/* store operations that fixed filters and parts share */
int bf_map_before_write(bf_store *s, bf_error *err);
int bf_map_sync(bf_store *s, bf_error *err);
int bf_map_read_file(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err);
/* Makes sure that access to the holes in this range cannot fail for lack of space: allocates them;
 * if the store is read-only, reads them on tmpfs and does nothing elsewhere. */
int bf_file_room(const bf_store *s, uint64_t at, uint64_t bytes, bf_error *err);
/* Reads bytes with pread, because an access through a map raises SIGBUS if the file was
 * truncated. */
int bf_file_read(const bf_file *f, uint64_t at, void *buf, uint64_t len, bf_error *err);
/* Checks the words in the file, and their checksum if the mapped page is clean. */
int bf_map_verify(const bf_file_map *m, uint64_t nwords, bf_error *err);
/* file_parts.c: writes the first page and the first parts to a new file */
int bf_chain_file_fill(int fd, const bf_params *d, const char *path, bf_error *err);
/* shadow.c: unmaps the shadow and releases its lock; called when the handle is closed */
void bf_file_end_shadow(bf_file *file);
#endif
