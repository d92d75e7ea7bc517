/* tcp.h - what the core uses of <netinet/tcp.h> */
#include <sys/socket.h>
