/* history.h - fill and requests over time, for the status page: at most HISTORY points over the
 * server's whole life.  When there are that many, every second point is dropped and the distance
 * doubles. */
#ifndef BFD_HISTORY_H
#define BFD_HISTORY_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY = 240 };
typedef struct {
    double at, fill, rate;
} point; /* seconds since the start; 0..1; requests per second */
typedef struct {
    pthread_mutex_t lock;
    point points[HISTORY];
    size_t count;
    double distance, last_rate; /* seconds between points; requests per second just now */
    double before_at, point_at;
    uint64_t before, point_requests;
} history;

void history_init(history *h);
/* Called about once a second with all requests so far. */
void history_tick(history *h, double at, uint64_t requests, double fill);
/* A copy, at most HISTORY points. */
size_t history_read(history *h, point *to, double *rate);
#endif
