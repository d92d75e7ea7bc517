/* url.h - the parts of a Redis URL: address and login.  Private. */
#ifndef BF_REDIS_URL_H
#define BF_REDIS_URL_H
#include "base/base.h"

typedef struct {             /* owns all strings */
    char *host, *path;       /* one of the two is set */
    char *user, *pass, *key; /* user and pass may be NULL */
    bool tls;                /* rediss:// */
    char *ca, *cert;         /* certificate files, or NULL */
    unsigned port, db;
    double timeout, retry_after; /* s */
} bf_redis_url;
int bf_redis_url_parse(bf_redis_url *u, const char *storage, const char *key, bf_error *err);
void bf_redis_url_free(bf_redis_url *u); /* wipes the password */
#endif
