/* keys.c - the other process: `keys add STORAGE WHO COUNT` adds WHO-0, WHO-1 ..., each by a call of
 * its own; `keys test STORAGE WHO COUNT` fails unless all are there. For Windows and Linux. */
#include "../../core/bloomfilter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    bf_error e;
    char key[64];
    if (argc != 5) return 2;
    const int add = strcmp(argv[1], "add") == 0, count = atoi(argv[4]);
    bf_filter *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.001, .grow = 2, .storage = argv[2] }, &e);
    int i = 0, rc = f ? 1 : e.code;
    for (; rc > 0 && i < count; i++) {
        const size_t len = (size_t)snprintf(key, sizeof key, "%s-%d", argv[3], i);
        rc = add ? bf_add(f, key, len, &e) < 0 ? e.code : 1 : bf_test(f, key, len, &e);
    }
    printf("%s %s: %d of %d%s%s\n", argv[1], argv[3], rc > 0 || i == 0 ? i : i - 1, count,
        rc < 0 ? ": " : "", rc < 0 ? e.msg : "");
    bf_close(f);
    return rc <= 0;
}
