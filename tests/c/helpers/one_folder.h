/* one_folder.h - a folder of the test's own with a filter's file in it, and what else was left
 * there. */
#ifndef ONE_FOLDER_H
#define ONE_FOLDER_H
#include "folder.h"
#include "must.h"

static inline int files_in(const char *where)
{
    int n = 0;
    DIR *d = opendir(where);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n - 2;
}
static inline int files(void) { return files_in(folder); }
/* The filter's file goes, and was the only one. */
static inline void gone(void)
{
    unlink(path);
    CHECK_EQ(files(), 0);
}
/* One of m and k can be made, others find in it what was added; no other file is there. */
static inline void can_be_made(const bf_spec *s)
{
    bf_filter *f = MADE(s), *g = NULL;
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    CHECK((g = bf_open(&(bf_spec){ .storage = path }, &e)) && bf_test(g, "a", 1, &e) == 1);
    CHECK_EQ(files(), 1);
    CLOSE(f, g);
    gone();
}
#endif
