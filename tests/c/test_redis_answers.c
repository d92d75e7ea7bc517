/* test_redis_answers.c - every kind of filter in Redis, every call, every round trip of it,
 * everything in its reply: it becomes something else, or the connection ends there.  What is told
 * is right or an error that names the key, and the next call works.  And replies that come a few
 * bytes at a time, between signals.  Its own server.  About core/redis/resp.c, core/redis/batch.c,
 * core/redis/bitfield.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "redis_sweep.h"

static const char *const spoils[] = {
    "-ERR unknown command 'x', with args beginning with: s3same\r\n", ":-7\r\n", "$-1\r\n",
    "$3\r\nabc\r\n", "*0\r\n", "", "HTTP/1.1 400\r\n\r\n",
    "-LOADING Redis is\tloading the dataset in memory\r\n",
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", ":99999\r\n",
    "$0\r\n\r\n", "*1\r\n:1\r\n", "*-1\r\n",
    "$100\r\n01234567890123456789012345678901234567890123456789012345678901234567890123456789012345"
    "67890123456789\r\n",
    "-MOVED 1234 10.0.0.1:6379\r\n", "-BUSY Redis is busy running a script\r\n", "+OK\r\n", "-\r\n",
    "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "\r\n", "$99999999999999\r\n", "*2147483647\r\n", ":x\r\n",
    "-READONLY You can't write against a read only replica.\r\n",
    "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"
};
enum { SPOILS = COUNT(spoils), EACH_NODE = 4 };

/* The first few, then fewer and fewer, and the last two: the mark is at the end. */
static size_t after(size_t node, size_t nodes)
{
    const size_t next = node < EACH_NODE ? node + 1 : node + node / 2;
    return next < nodes - 2 || node + 2 >= nodes ? next : node < nodes - 2 ? nodes - 2 : nodes - 1;
}

static void every_node(long trip)
{
    static size_t turn;
    if (sweep.w->alike && !call_is(OWN)) return; /* what they are asked later others are asked */
    trips.nodes = 1;
    for (size_t node = 0; node < trips.nodes && failed_here < 20; node = after(node, trips.nodes))
        for (size_t i = 0; i < (node < EACH_NODE ? SHORT(SPOILS, 4) : 2); i++, turn++) {
            const disturbance d = { .name = "other replies",
                .instead = spoils[SHORT(node < EACH_NODE, 0) ? i : turn % SPOILS],
                .cut = turn % 3 == 0 };
            if (!disturb(&d, trip, node)) break;
        }
}

TEST(every_answer) { sweep_all(NULL, every_node); }

/* ---- signals at every call, a few bytes at a time: as if nothing had happened ---- */
static bool is_client(const world *w) { return w->client; }
static void stutters(world *w, size_t call)
{
    trips.stutter = true;
    round_trips_of(w, call);
    trips.stutter = false;
}
TEST(stutter) { each_call(is_client, stutters); }

int main(void) { return main_with_redis(&redis); }
