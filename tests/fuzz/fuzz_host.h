/* fuzz_host.h - an interpreter that has one of the extensions in it: what it is allowed, and the
 * folder that all files of an input are in. */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H
#include "fuzz.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__asan_default_options(void);
int __lsan_is_turned_off(void);
/* Large allocations fail as on a small machine.  The interpreter itself leaks at its end. */
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=64:allocator_may_return_null=1";
}
int __lsan_is_turned_off(void) { return 1; }

static char folder[64];
static inline void begin_host(const char *name)
{
    snprintf(folder, sizeof folder, "%s/fuzz-%s-%d", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
        name, (int)getpid());
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 32 << 20, 32 << 20 }); /* mapped files stay small */
}
static inline void begin_input(void)
{
    signal(SIGXFSZ, SIG_IGN); /* each time: libFuzzer has set its own */
    MUST(mkdir(folder, 0700) == 0 || access(folder, W_OK) == 0);
}
static inline void end_input(void)
{
    char path[80];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/f%d", folder, i);
        unlink(path);
    }
    rmdir(folder);
}
#endif
