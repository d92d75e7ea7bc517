/* one_folder.h - a folder of the test's own with a filter's file in it, and what else was left
 * there. */
#ifndef ONE_FOLDER_H
#define ONE_FOLDER_H
#include "folder.h"
#include "must.h"

static inline int files(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n - 2;
}
/* The filter's file goes, and was the only one. */
static inline void gone(void)
{
    unlink(path);
    CHECK_EQ(files(), 0);
}
#endif
