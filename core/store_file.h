/* store_file.h - what store_file.c and chain_file.c share of a mapped file.  Private. */
#ifndef BF_STORE_FILE_H
#define BF_STORE_FILE_H
#include "seams.h"
#include <sys/types.h>

typedef struct {
    int fd;
    uint8_t *map;              /* header page, then the words; of a filter of many parts the first page alone */
    uint64_t mapped, bytes;    /* of map; that the file must have                        */
    bf_stamp stamp;            /* of the header as it was opened                         */
    dev_t device;
    ino_t inode;
    char *path;
} bf_file;

int bf_chain_file_fill(int fd, const bf_desc *d, const char *path, bf_error *err);      /* chain_file.c */
#endif
