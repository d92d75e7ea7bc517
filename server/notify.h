/* notify.h - reports the daemon's state to systemd. */
#ifndef BFD_NOTIFY_H
#define BFD_NOTIFY_H
/* Sends the state, such as "READY=1".  Does nothing if systemd did not start the daemon. */
void notify(const char *state);
#endif
