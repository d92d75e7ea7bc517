/* history.h - fill and requests over time, for the status page: at most HISTORY points, from the
 * start of the server.  When there are HISTORY points, every second point is removed and the
 * interval between points doubles. */
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
    double distance, last_rate; /* seconds between points; requests per second at the last tick */
    double before_at, point_at; /* seconds since the start: of the last tick, of the last point */
    uint64_t before, point_requests; /* requests at the last tick, at the last point */
} history;

void history_init(history *h);
/* Called about once a second.  requests: number since the start.  fill: -1 if not known. */
void history_tick(history *h, double at, uint64_t requests, double fill);
/* Copies the points, at most HISTORY, and returns their number. */
size_t history_read(history *h, point *to, double *rate);
#endif
