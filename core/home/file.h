/* file.h - declarations that the files about mapped files share. Private. */
#ifndef BF_STORE_FILE_H
#define BF_STORE_FILE_H
#include "parts/filter.h"
#include <fcntl.h>
#include <sys/stat.h>

typedef struct {
    uint64_t device, inode, born, born_ns;
} bf_identity; /* born: time of creation in seconds and ns; 0: unknown */
typedef struct bf_listed {
    struct bf_listed *next;
    bf_identity id;
} bf_listed;
/* A lock on bytes of the file that ends with this process, even if a forked child lives longer:
 * a map that fork does not copy holds the lock, and fd is 0. On overlayfs and FUSE a map belongs
 * to another file than the descriptor and holds no lock; there fd is the descriptor that holds
 * the lock. */
typedef struct {
    void *map; /* NULL: not locked */
    int fd, process;
} bf_process_lock;
/* A map of a part, or of a fixed filter: a header page and the words after it. It is the first
 * member of the struct that s->impl points to. */
typedef struct {
    uint8_t *page;
    /* the beginning of the mapping: at the page, or before it if the page size is above 4096 */
    void *map;
    size_t mapped;
    const struct bf_file *file;
    uint64_t at; /* file offset of the header page */
} bf_file_map;
typedef struct bf_file {
    bf_file_map first; /* the first header page; in a fixed filter also the words */
    int descriptor;    /* use bf_file_fd to read it; -1: none */
    uint32_t number;   /* the number that marks its descriptors (descriptor.c) */
    uint64_t bytes;    /* required length of the file: the end of its last part, in bytes */
    bf_stamp stamp;    /* stamp of the header when the file was opened */
    bf_identity id;
    bf_identity made;      /* identity of the file if this opening created it, else zeros */
    char *path, *absolute; /* path: as given; absolute: looked up to check the name */
    /* its entry in the list of files that are open for writing, if `listed` */
    bf_listed open;
    bool listed;
    uint64_t *shadow; /* map of the shadow, or NULL (shadow.c) */
    size_t shadow_bytes;
    bf_process_lock alone; /* the lock of an exclusive writer */
    /* the lock that shows that this process is alive while it rebuilds the file */
    bf_process_lock maker;
} bf_file;

/* descriptor.c: returns the descriptor of the file, or an error if the program has closed it.
 * Fills *st unless st is NULL. */
int bf_file_fd(const bf_file *f, struct stat *st, bf_error *err);
/* Opens the file again with these flags of open(2), and marks the open file description. Call
 * bf_file_fd first, and this between bf_hold_forks and bf_release_forks. Returns a descriptor, or
 * -1 and errno. */
int bf_file_again(const bf_file *f, int flags);
/* bf_file_mark labels fd, by its file offset, as opened by this handle, and returns 0 or an errno.
 * bf_file_owns returns true if fd has this label. bf_file_close closes fd if it has this label. */
int bf_file_mark(const bf_file *f, int fd);
bool bf_file_owns(const bf_file *f, int fd);
void bf_file_close(const bf_file *f, int fd);

/* writer.c: reads the identity and length of a file, given by fd (path is then "") or by path.
 * Returns false and sets errno on failure. */
bool bf_identify(int fd, const char *path, bf_identity *id, uint64_t *bytes);
/* Takes the writers' lock, shared or exclusive. Returns 0; BF_EBUSY with the holder in the
 * message; or another error. */
int bf_file_write_shared(const bf_file *f, bf_error *err);
int bf_file_write_alone(bf_file *f, bf_error *err);
/* Takes a lock with a new open file description, opened with these flags. Returns 0, a negative
 * code, or an errno: EAGAIN if another description holds the lock, ENOSYS if the system has no
 * such locks. */
int bf_process_lock_take(
    const bf_file *f, bf_process_lock *h, struct flock lock, int flags, bf_error *err);
void bf_process_lock_drop(const bf_file *f, bf_process_lock *h);
/* The list of files that this process has open for writing. bf_refuse_open_file returns BF_EBUSY
 * if path leads to one of them. */
void bf_listed_add(bf_listed *f, const bf_identity *id);
void bf_listed_drop(bf_listed *f);
int bf_refuse_open_file(const char *path, bf_error *err);

/* file.c: maps `bytes` bytes at file offset `at` into m, and sets s->words. */
int bf_file_map_at(
    const bf_file *f, bf_file_map *m, uint64_t at, uint64_t bytes, bf_store *s, bf_error *err);
/* operations that the stores of fixed filters and of parts share */
int bf_map_before_write(bf_store *s, bf_error *err);
int bf_map_sync(bf_store *s, bf_error *err);
int bf_map_read_file(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err);
/* Reserves disk space for the holes in these bytes. */
int bf_file_room(const bf_store *s, uint64_t at, uint64_t bytes, bf_error *err);
/* Reads bytes with pread, because an access through a map raises SIGBUS if the file was
 * truncated. */
int bf_file_read(const bf_file *f, uint64_t at, void *buf, uint64_t len, bf_error *err);
/* Checks that the words in the file match the sum in the mapped page. */
int bf_map_verify(const bf_file_map *m, uint64_t nwords, bf_error *err);
/* file_parts.c */
int bf_chain_file_fill(int fd, const bf_params *d, const char *path, bf_error *err);
/* shadow.c: unmaps the shadow and releases its lock, when the handle is closed */
void bf_file_end_shadow(bf_file *file);
#endif
