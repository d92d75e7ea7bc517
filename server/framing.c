/* framing.c - finds the end of a line, of a head and of a chunk: see framing.h. */
#include "framing.h"
#include "bytes.h"
#include <stdbool.h>
#include <string.h>

enum { METHOD, TARGET, VERSION, LINE_LF, LINE, NAME, VALUE, LAST_LF, HEAD_END };
enum { SIZE = HEAD_END, EXTENSION, SIZE_LF, DATA, DATA_CR, DATA_LF };

/* The characters of header names and methods (RFC 9110: tchar). */
/* clang-format off */
static const char tokens[256] = {
    ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1,
    ['-'] = 1, ['.'] = 1, ['^'] = 1, ['_'] = 1,
    ['`'] = 1, ['|'] = 1, ['~'] = 1,
    ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1,
    ['8'] = 1, ['9'] = 1,
    ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1,
    ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1,
    ['N'] = 1, ['O'] = 1, ['P'] = 1, ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1,
    ['V'] = 1, ['W'] = 1, ['X'] = 1, ['Y'] = 1, ['Z'] = 1,
    ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1,
    ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1,
    ['n'] = 1, ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1,
    ['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1
};
/* clang-format on */

static inline bool is_token(unsigned char c) { return tokens[c]; }
static bool is_target(unsigned char c) { return c > ' ' && c != 127; }
static bool is_version(unsigned char c) { return c > ' ' && c < 127; }
static bool is_value(unsigned char c) { return (c >= ' ' && c != 127) || c == '\t'; }

static inline size_t skip(bool (*is)(unsigned char), const char *bytes, size_t i, size_t len)
{
    while (i < len && is((unsigned char)bytes[i])) i++;
    return i;
}

/* Loads the eight bytes that begin at index i; the first becomes the lowest byte.  Bytes after the
 * end are 0.  len must be at least 8. */
static inline uint64_t load_eight(const char *bytes, size_t i, size_t len)
{
    const size_t left = len - i;
    uint64_t x;
    memcpy(&x, bytes + (left < 8 ? len - 8 : i), 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return left < 8 ? x >> 8 * (8 - left) : x;
}

/* Like skip(), but faster.  Ordinary bytes, at least `least` and not 127, are skipped eight per
 * step; is() is called only for the others.  `odd` has the high bit set in each byte that is not
 * ordinary.  Only its lowest set bit is exact: the subtraction may borrow from the bytes above. */
static inline size_t skip_eight(
    bool (*is)(unsigned char), unsigned char least, const char *bytes, size_t i, size_t len)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    if (len < 8) return skip(is, bytes, i, len);
    while (i < len) {
        const uint64_t x = load_eight(bytes, i, len), del = x ^ ones * 127;
        const uint64_t odd = (((x - ones * least) & ~x) | ((del - ones) & ~del)) & high;
        i += odd ? (size_t)__builtin_ctzll(odd) / 8 : 8;
        if (!odd) continue;
        if (i >= len || !is((unsigned char)bytes[i])) return i;
        i++; /* a tab, which is() allows */
    }
    return i;
}

/* Skips a complete, valid header line.  Returns false and keeps *i for all other lines. */
static inline bool skip_line(const char *bytes, size_t len, size_t *i)
{
    const size_t colon = skip(is_token, bytes, *i, len);
    if (colon == *i || colon == len || bytes[colon] != ':') return false;
    const size_t end = skip_eight(is_value, ' ', bytes, colon + 1, len);
    if (len - end < 2 || memcmp(bytes + end, "\r\n", 2) != 0) return false;
    *i = end + 2;
    return true;
}

/* Skips a request line "GET TARGET HTTP/1.1".  Returns false and keeps *i for all other lines,
 * which check_first_line() checks. */
static inline bool skip_first_line(const char *bytes, size_t len, size_t *i)
{
    static const char check_version[11] = " HTTP/1.1\r\n";
    if (len < 4 || memcmp(bytes, "GET ", 4) != 0) return false;
    const size_t end = skip_eight(is_target, ' ' + 1, bytes, 4, len);
    if (len - end < sizeof check_version) return false;
    if (memcmp(bytes + end, check_version, sizeof check_version) != 0) return false;
    *i = end + sizeof check_version;
    return true;
}

/* Skips all header lines and the empty line that ends the head.  Returns false if the next line is
 * not complete and valid. */
static inline bool skip_lines(const char *bytes, size_t len, size_t *i)
{
    while (skip_line(bytes, len, i)) {}
    if (len - *i < 2 || memcmp(bytes + *i, "\r\n", 2) != 0) return false;
    *i += 2;
    return true;
}

/* Checks header lines of a head or of trailers, from s->state on.  Returns 0 or the HTTP status. */
static int check_lines(framing *s, const char *bytes, size_t len, size_t *took)
{
    size_t i = 0;
    for (; i < len && s->state != HEAD_END; i++) {
        if (s->state == LINE)
            while (skip_line(bytes, len, &i)) {}
        else if (s->state == NAME)
            i = skip(is_token, bytes, i, len);
        else if (s->state == VALUE)
            i = skip_eight(is_value, ' ', bytes, i, len);
        if (i == len) break;
        const char c = bytes[i];
        int next = -1;
        switch (s->state) {
        case LINE_LF:
            if (c == '\n') next = LINE;
            break;
        case LINE: next = c == '\r' ? LAST_LF : is_token((unsigned char)c) ? NAME : -1; break;
        case NAME:
            if (c == ':') next = VALUE;
            break;
        case VALUE:
            if (c == '\r') next = LINE_LF;
            break;
        default:
            if (c == '\n') next = HEAD_END;
            break;
        }
        if (next < 0) {
            *took = i;
            return 400;
        }
        s->state = (uint8_t)next;
    }
    *took = i;
    return 0;
}

/* Skips the version HTTP/1.x.  Returns the index of the first byte after the valid ones.  Needed
 * because some versions of llhttp accept RTSP and ICE, too. */
static size_t check_version(framing *s, const char *bytes, size_t i, size_t len)
{
    static const char starts[] = "HTTP/1.";
    while (i < len && s->digits < sizeof starts - 1 && bytes[i] == starts[s->digits]) {
        s->digits++;
        i++;
    }
    return s->digits < sizeof starts - 1 ? i : skip(is_version, bytes, i, len);
}

/* Checks the request line, including its CR. */
static int check_first_line(framing *s, const char *bytes, size_t len, size_t *took)
{
    size_t i = 0;
    for (; i < len && s->state <= VERSION; i++) {
        if (s->state == METHOD)
            i = skip(is_token, bytes, i, len);
        else if (s->state == TARGET)
            i = skip_eight(is_target, ' ' + 1, bytes, i, len);
        else
            i = check_version(s, bytes, i, len);
        if (i == len) break;
        if (bytes[i] != (s->state == VERSION ? '\r' : ' ')) {
            *took = i;
            return 400;
        }
        if (s->state++ == VERSION) s->digits = 0;
    }
    *took = i;
    return 0;
}

int framing_head(framing *s, const char *bytes, size_t len, size_t *took)
{
    size_t first = 0, more = 0;
    if (s->state == METHOD && skip_first_line(bytes, len, &first)) {
        s->state = LINE;
        if (skip_lines(bytes, len, &first)) {
            s->state = HEAD_END;
            *took = first;
            return 0;
        }
    }
    int status = s->state <= VERSION ? check_first_line(s, bytes, len, &first) : 0;
    if (status == 0 && s->state > VERSION)
        status = check_lines(s, bytes + first, len - first, &more);
    *took = first + more;
    return status;
}

/* Checks one byte of the line with a chunk's size.  Returns 0 or the HTTP status. */
static int check_size_line(framing *s, char c, uint64_t most)
{
    int digit = s->state == SIZE ? hex_digit(c) : -1;
    if (digit >= 0) {
        if (++s->digits > FRAMING_DIGITS) return 400;
        s->left = s->left << 4 | (unsigned)digit;
        return 0;
    }
    if (s->digits == 0) return 400;
    if (s->left > most) return 413;
    if (c == '\r')
        s->state = SIZE_LF;
    else if (s->state == SIZE && c != ';')
        return 400;
    else if (!is_value((unsigned char)c) || ++s->line > FRAMING_EXTENSION)
        return 400;
    else
        s->state = EXTENSION;
    return 0;
}

static int check_size_end(framing *s, char c)
{
    if (c != '\n') return 400;
    s->state = s->left ? DATA : LINE;
    s->digits = 0;
    s->line = 0;
    return 0;
}

static void skip_data(framing *s, size_t len, size_t *i)
{
    size_t n = len - *i < s->left ? len - *i : (size_t)s->left;
    s->left -= n;
    *i += n;
    if (s->left == 0) s->state = DATA_CR;
}

static int check_trailers(framing *s, const char *bytes, size_t len, uint64_t most, size_t *i)
{
    size_t took;
    int status = check_lines(s, bytes + *i, len - *i, &took);
    s->line += (uint32_t)took;
    *i += took;
    return status ? status : s->line > most ? 431 : 0;
}

/* After the last trailer the state is HEAD_END, which equals SIZE.  So s->state does not show the
 * end of the body; llhttp reports it. */
int framing_chunks(
    framing *s, const char *bytes, size_t len, uint64_t most, uint64_t trailers, size_t *took)
{
    size_t i = 0;
    int status = 0;
    while (i < len && status == 0) {
        if (s->state == DATA) {
            skip_data(s, len, &i);
            continue;
        }
        if (s->state < SIZE) {
            status = check_trailers(s, bytes, len, trailers, &i);
            if (s->state == HEAD_END) break;
            continue;
        }
        const char c = bytes[i];
        if (s->state == SIZE || s->state == EXTENSION)
            status = check_size_line(s, c, most);
        else if (s->state == SIZE_LF)
            status = check_size_end(s, c);
        else if (c != (s->state == DATA_CR ? '\r' : '\n'))
            status = 400;
        else
            s->state = s->state == DATA_CR ? DATA_LF : SIZE;
        if (status == 0) i++;
    }
    *took = i;
    return status;
}
