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
    double at;   /* seconds since the start */
    double fill; /* 0 to 1; -1: not known */
    double rate; /* requests per second */
} point;
typedef struct {
    pthread_mutex_t lock;
    point points[HISTORY];
    size_t count;
    double distance;  /* seconds between points */
    double last_rate; /* requests per second before the last tick */
    /* seconds and requests since the start: before: at the last tick; point: at the last point */
    double before_at, point_at;
    uint64_t before, point_requests;
} history;

void history_init(history *h);
/* Called about once a second.  requests: number since the start.  fill: -1 if not known. */
void history_tick(history *h, double at, uint64_t requests, double fill);
/* Copies the points, at most HISTORY, and returns their number. */
size_t history_read(history *h, point *to, double *rate);
#endif
