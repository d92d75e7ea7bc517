/* folder.h - a folder of the test's own, and two names in it. */
#ifndef FOLDER_H
#define FOLDER_H
#include "check.h"

static char folder[40] = "/tmp/bf-test-XXXXXX", path[64], other[64];
static inline void make_folder(void)
{
    if (*path) return;
    if (!mkdtemp(folder)) {
        perror("mkdtemp");
        exit(1);
    }
    snprintf(path, sizeof path, "%s/f.bloom", folder);
    snprintf(other, sizeof other, "%s/g.bloom", folder);
}
static inline int main_in_folder(void)
{
    make_folder();
    run_tests();
    unlink(path);
    CHECK_EQ(rmdir(folder), 0);
    return FINISH();
}
#endif
