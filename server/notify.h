/* notify.h - tells systemd that the daemon is ready or stopping, by the datagram it waits for.
 * Without systemd: nothing. */
#ifndef BFD_NOTIFY_H
#define BFD_NOTIFY_H
void notify(const char *state);
#endif
