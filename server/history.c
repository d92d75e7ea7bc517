/* history.c - fill and requests over time: see history.h. */
#include "history.h"
#include <string.h>

void history_init(history *h)
{
    memset(h, 0, sizeof *h);
    pthread_mutex_init(&h->lock, NULL);
    h->distance = 1;
}

static void halve_points(history *h)
{
    for (size_t i = 0; i < HISTORY / 2; i++) h->points[i] = h->points[2 * i + 1];
    h->count = HISTORY / 2;
    h->distance *= 2;
}

static double per_second(uint64_t more, double seconds)
{
    return seconds > 0 ? (double)more / seconds : 0;
}

void history_tick(history *h, double at, uint64_t requests, double fill)
{
    pthread_mutex_lock(&h->lock);
    h->last_rate = per_second(requests - h->before, at - h->before_at);
    h->before = requests;
    h->before_at = at;
    if (h->count == 0 || at - h->point_at >= h->distance * 0.999) {
        if (h->count == HISTORY) halve_points(h);
        h->points[h->count++] =
            (point){ at, fill, per_second(requests - h->point_requests, at - h->point_at) };
        h->point_at = at;
        h->point_requests = requests;
    }
    pthread_mutex_unlock(&h->lock);
}

size_t history_read(history *h, point *to, double *rate)
{
    pthread_mutex_lock(&h->lock);
    size_t n = h->count;
    memcpy(to, h->points, n * sizeof *to);
    *rate = h->last_rate;
    pthread_mutex_unlock(&h->lock);
    return n;
}
