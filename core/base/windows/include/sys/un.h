/* un.h - what the core uses of <sys/un.h> */
#include <sys/socket.h>
