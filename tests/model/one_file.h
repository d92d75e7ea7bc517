/* one_file.h - one mapped file under several handles, each of which stands for a process and maps
 * it by itself: a word has then several addresses and is known by its place in the file.  flock is
 * the model's, so that who waits for it does not stop the others; nothing is waited for to reach a
 * disk.  A test that includes it names flock, fsync, mmap and munmap among its wraps. */
#ifndef ONE_FILE_H
#define ONE_FILE_H
#include "../../core/bloomfilter.h"
#include "model.h"

/* ---- the machine ---- */
enum { MAPS = 64 };
static struct {
    const uint8_t *at;
    size_t len;
    off_t offset;
} maps[MAPS];
static int flock_, flock_fd, flock_thread;

static const void *place(const void *word)
{
    for (int i = 0; i < MAPS; i++)
        if (maps[i].at && (const uint8_t *)word >= maps[i].at &&
            (const uint8_t *)word < maps[i].at + maps[i].len)
            return (const void *)(uintptr_t)((const uint8_t *)word - maps[i].at + maps[i].offset);
    return word;
}

REPLACED(void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t offset))
{
    uint8_t *p = __real_mmap(at, len, prot, flags, fd, offset);
    int i = 0;
    while (i < MAPS && maps[i].at) i++;
    if (p == MAP_FAILED || fd < 0 || i == MAPS) return p;
    maps[i].at = p;
    maps[i].len = len;
    maps[i].offset = offset;
    return p;
}
REPLACED(int, munmap, (void *at, size_t len))
{
    for (int i = 0; i < MAPS; i++)
        if (maps[i].at == at) maps[i].at = NULL;
    return __real_munmap(at, len);
}
REPLACED(int, flock, (int fd, int op))
{
    if (op == LOCK_UN)
        bf_model_step(&flock_, true);
    else
        bf_model_wait(&flock_);
    flock_ = op != LOCK_UN;
    flock_fd = fd;
    flock_thread = model.running;
    return __real_flock(fd, op | LOCK_NB);
}
/* The kernel gives back what a process had locked when it dies. */
static inline void give_back(int thread)
{
    if (!flock_ || flock_thread != thread) return;
    close(flock_fd);
    flock_ = 0;
}
REPLACED(int, fsync, (int fd)) { return 0; }

/* ---- the file ---- */
static char folder[40], path[60];
static bool begin_with_a_file(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    model_begin();
    snprintf(folder, sizeof folder, "%s/bfmodelXXXXXX",
        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) {
        perror("mkdtemp");
        return false;
    }
    snprintf(path, sizeof path, "%s/f.bloom", folder);
    model.place = place;
    return true;
}
/* No file is there, and no handle. */
static void close_all(bf_filter *handle[MODEL_THREADS])
{
    for (int i = 0; i < MODEL_THREADS; i++) {
        bf_close(handle[i]);
        handle[i] = NULL;
    }
    unlink(path);
    flock_ = 0;
}
static int end_with_a_file(bf_filter *handle[MODEL_THREADS])
{
    close_all(handle);
    rmdir(folder);
    return model_ended();
}
#endif
