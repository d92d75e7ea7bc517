/* output.h - messages on standard error, and the access log.
 *
 *   any thread --text lines--> queue --> the thread of this output --write()--> pipe, terminal,
 * disk
 *
 * A write waits while nobody reads the pipe, and the event threads must never wait.  So only the
 * thread of the output writes.  If its queue is full, text lines are dropped and counted. */
#ifndef BFD_OUTPUT_H
#define BFD_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { MESSAGES, ACCESS_LOG, OUTPUTS } output_name;

/* Starts the output with this descriptor; again: replaces its descriptor.  name: what messages call
 * it, NULL: no messages.  Returns false, with errno, on failure: the descriptor stays open. */
bool output_start(output_name to, int fd, const char *name);
void output_lines(output_name to, const char *bytes, size_t len); /* complete text lines */
/* Writes "bloomfilterd: ", the text and LF to standard error. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t output_dropped(void); /* the text lines that were dropped, of all outputs */
/* Ends all outputs, which drop what is not written at `until` (ms). */
void output_end(uint64_t until);
#endif
