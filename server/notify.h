/* notify.h - reports READY and STOPPING to systemd.  Does nothing if systemd did not start the
 * daemon. */
#ifndef BFD_NOTIFY_H
#define BFD_NOTIFY_H
void notify(const char *state);
#endif
