/* gen_urls.c - gen_urls N [PARTS]: N different URLs, one a line, on standard output; with PARTS, on
 * standard error the nanoseconds that each of so many equal parts took.  Written into a pipe that
 * is the rate of whoever reads it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char head[] = "https://www.example.com/item/", tail[] = "/page\n";
enum {
    HEAD = sizeof head - 1,
    DIGITS = 18,
    TAIL = sizeof tail - 1,
    LINE = HEAD + DIGITS + TAIL,
    BATCH = 1200
};

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void put(char *out, uint64_t i)
{
    uint64_t number = (uint64_t)((unsigned __int128)i * UINT64_C(0x9E3779B97F4A7C15) %
                                 UINT64_C(1000000000000000000));
    memcpy(out, head, HEAD);
    for (int at = HEAD + DIGITS; at-- > HEAD; number /= 10) out[at] = (char)('0' + number % 10);
    memcpy(out + HEAD + DIGITS, tail, TAIL);
}

static int write_all(const char *data, size_t len)
{
    while (len) {
        ssize_t done = write(1, data, len);
        if (done < 0) return -1;
        data += done;
        len -= (size_t)done;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static char room[BATCH * LINE];
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 0,
             parts = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, done = 0;
    if (n == 0 || parts == 0 || parts > n) {
        fprintf(stderr, "usage: gen_urls N [PARTS]\n");
        return 2;
    }
    for (uint64_t part = 1; part <= parts; part++) {
        long long start = now();
        for (uint64_t end = n / parts * part, batch; done < end; done += batch) {
            batch = end - done < BATCH ? end - done : BATCH;
            for (uint64_t i = 0; i < batch; i++) put(room + i * LINE, done + i + 1);
            if (write_all(room, (size_t)batch * LINE) < 0) return 1;
        }
        if (argc > 2) fprintf(stderr, "%lld\n", now() - start);
    }
    return 0;
}
