/* keys.c - keys from URLs and bodies.  A key of a body is not copied: its bf_key points into the
 * body.
 *
 *   lines    key LF key LF key           a line is the bytes up to LF; the last LF is optional
 *   framed   |len, 4 bytes LE|key|...    any bytes are a key
 *   bulk     $len CR LF key CR LF ...    any bytes are a key; before each may be a command's name
 */
#include "keys.h"

static size_t plain(text in, char space)
{
    size_t i = 0;
    while (i < in.len && in.ptr[i] != '%' && in.ptr[i] != space) i++;
    return i;
}

/* space: the character that encodes a space; '%': none does. */
static bool decode(text in, char space, char *to, bf_key *key)
{
    size_t i = plain(in, space), n = i;
    *key = (bf_key){ in.ptr, in.len };
    if (i == in.len) return true;
    memcpy(to, in.ptr, i);
    for (; i < in.len; i++) {
        char c = in.ptr[i];
        if (c == space && c != '%')
            c = ' ';
        else if (c == '%') {
            const int high = in.len - i > 2 ? hex_digit(in.ptr[i + 1]) : -1,
                      low = high >= 0 ? hex_digit(in.ptr[i + 2]) : -1;
            if (low < 0) return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        to[n++] = c;
    }
    *key = (bf_key){ to, n };
    return true;
}

bool keys_decode(text in, char *to, bf_key *key) { return decode(in, '+', to, key); }
bool keys_decode_percent(text in, char *to, bf_key *key) { return decode(in, '%', to, key); }

static uint32_t length_at(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int64_t count_framed(text body, size_t *at)
{
    int64_t n = 0;
    for (size_t i = 0; i < body.len; n++) {
        *at = i;
        if (body.len - i < 4) return -1;
        uint32_t len = length_at(body.ptr + i);
        if (body.len - i - 4 < len) return -1;
        i += 4 + (size_t)len;
    }
    return n;
}

int64_t keys_count(int form, text body, size_t *at)
{
    if (form == KEYS_FRAMED) return count_framed(body, at);
    int64_t n = 0;
    for (size_t i = 0; i < body.len; i++) n += body.ptr[i] == '\n';
    return n + (body.len && body.ptr[body.len - 1] != '\n');
}

static void take_frame(text *rest, bf_key *key)
{
    size_t len = length_at(rest->ptr);
    *key = (bf_key){ rest->ptr + 4, len };
    *rest = text_after(*rest, 4 + len);
}

size_t keys_next(int form, text *rest, bf_key *keys, size_t cap)
{
    size_t n = 0;
    if (form == KEYS_LINES) {
        bf_lines l = { .at = rest->ptr, .end = rest->ptr + rest->len, .sep = '\n', .last = true };
        n = bf_next_lines(&l, keys, cap);
        *rest = (text){ l.at, (size_t)(l.end - l.at) };
        return n;
    }
    while (n < cap && rest->len) take_frame(rest, &keys[n++]);
    return n;
}

size_t keys_next_bulk(size_t prefix, text *rest, bf_key *keys, size_t cap)
{
    size_t n = 0;
    for (; n < cap && rest->len; n++) {
        const char *at = rest->ptr + prefix, *end = rest->ptr + rest->len;
        const size_t head = (size_t)bf_command_header(at, end, '$', &keys[n].len);
        keys[n].ptr = at + head;
        *rest = text_after(*rest, prefix + head + keys[n].len + 2);
    }
    return n;
}
