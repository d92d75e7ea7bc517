/* notify.h - sends systemd the datagrams READY and STOPPING.  Does nothing without systemd. */
#ifndef BFD_NOTIFY_H
#define BFD_NOTIFY_H
void notify(const char *state);
#endif
