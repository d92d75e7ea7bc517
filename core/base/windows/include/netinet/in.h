/* in.h - what the core uses of <netinet/in.h> */
#include <sys/socket.h>
