/* history.h - fill and requests over time, for the status page: at most HISTORY points for the
 * whole life of the server.  When there are HISTORY points, every second one is removed and the
 * interval doubles. */
#ifndef BFD_HISTORY_H
#define BFD_HISTORY_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY = 240 };
typedef struct {
    double at, fill, rate;
} point; /* seconds since the start; 0 to 1, or -1: not known; requests per second */
typedef struct {
    pthread_mutex_t lock;
    point points[HISTORY];
    size_t count;
    /* seconds between points; requests per second in the last interval between ticks */
    double distance, last_rate;
    double before_at, point_at;
    uint64_t before, point_requests;
} history;

void history_init(history *h);
/* Called about once a second.  requests: the number of requests since the start. */
void history_tick(history *h, double at, uint64_t requests, double fill);
/* Copies the points, at most HISTORY, and returns their number. */
size_t history_read(history *h, point *to, double *rate);
#endif
