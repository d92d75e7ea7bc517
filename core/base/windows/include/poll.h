/* poll.h - what the core uses of <poll.h> */
#include <sys/socket.h>
