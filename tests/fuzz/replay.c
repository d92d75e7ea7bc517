/* replay.c - main for a fuzz target that is linked without a fuzzer: each file of the folders given
 * is one input.  Knows no target; what an input must not do is the target's business. */
#include "fuzz.h"
#include <dirent.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static void replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 20);
    MUST(f && bytes);
    size_t len = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    bytes = realloc(bytes, len ? len : 1); /* so that a tool sees what is read past the end */
    LLVMFuzzerTestOneInput(bytes, len);
    free(bytes);
}

static unsigned replay_folder(const char *folder)
{
    char path[4096];
    unsigned inputs = 0;
    DIR *d = opendir(folder);
    MUST(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        replay(path);
        inputs++;
    }
    closedir(d);
    return inputs;
}

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        unsigned inputs = replay_folder(argv[i]);
        printf("%s: %u inputs\n", argv[i], inputs);
        MUST(inputs);
    }
    return 0;
}
