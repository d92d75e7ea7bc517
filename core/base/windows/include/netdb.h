/* netdb.h - what the core uses of <netdb.h> */
#include <sys/socket.h>
