/* fuzz_file.c - a mapped file of any bytes: opened, read-only and not, loaded, added to.  Sums are
 * mended as in fuzz_bytes.c. */
#define LLVMFuzzerTestOneInput fuzz_bytes
#include "fuzz_bytes.c"
#undef LLVMFuzzerTestOneInput
#include <fcntl.h>
#include <unistd.h>

static const char *path(void)
{
    static char name[64];
    if (!*name)
        snprintf(name, sizeof name, "%s/fuzz-%d.bloom",
            access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
    return name;
}

static void put_file(const uint8_t *bytes, size_t len)
{
    int fd = open(path(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    MUST(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    bf_error e = { 0 };
    if (len < 1) return 0;
    size_t whole;
    uint8_t *copy = stretched(data + 1, len - 1, true, &whole);
    mend_some(copy, whole, data[0]);
    put_file(copy, whole);
    bf_spec spec = {
        .storage = path(), .clock = still, .must_exist = true, .read_only = (data[0] & 64) != 0
    };
    bf_spec expect = { .clock = still };
    bf_filter *f = bf_open(&spec, &e), *loaded = NULL;
    if (!f) { /* only filters that forget take a clock */
        spec.clock = expect.clock = NULL;
        f = bf_open(&spec, &e);
    }
    if (!f)
        sound_error(&e);
    else {
        MUST((loaded = bf_load(path(), &expect, &e)) && bf_equal(f, loaded, &e) == 1);
        if (spec.read_only)
            MUST(bf_add(f, "a", 1, &e) == BF_ENOTSUP);
        else
            sound_filter(f, copy, whole);
    }
    bf_close(f);
    bf_close(loaded);
    free(copy);
    unlink(path());
    return 0;
}
