/* at_once.h - the same work by several threads or processes at once, and where each says what it
 * won. */
#ifndef AT_ONCE_H
#define AT_ONCE_H
#include "../../../core/bloomfilter.h"
#include "check.h"

enum { WORKERS = 4 };
typedef struct job {
    bf_filter *f;
    int id;
    uint8_t *won; /* one byte a key; a process writes into its parent's */
    void (*work)(const struct job *);
} job;

static inline uint8_t *won_bytes(size_t keys)
{
    return mmap(NULL, WORKERS * keys, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}
static inline void *one_of_them(void *p)
{
    const job *j = p;
    j->work(j);
    return NULL;
}
static inline void at_once(
    bf_filter *f, bool processes, uint8_t *won, size_t keys, void (*work)(const job *))
{
    job jobs[WORKERS];
    pthread_t t[WORKERS];
    for (int w = 0; w < WORKERS; w++) {
        jobs[w] = (job){ f, w, won + (size_t)w * keys, work };
        if (!processes)
            pthread_create(&t[w], NULL, one_of_them, &jobs[w]);
        else if (fork() == 0) {
            work(&jobs[w]);
            _exit(0);
        }
    }
    for (int w = 0; w < WORKERS; w++) {
        int status = 0;
        if (processes)
            wait(&status);
        else
            pthread_join(t[w], NULL);
        CHECK_EQ(status, 0);
    }
}
#endif
