/* scripts.c - the Lua scripts, which other files send. If a script finds a Redis key in another
 * state than the caller has seen, it changes nothing and returns 0 or the value in its comment. */
#include "redis/redis.h"

/* clang-format off */

/* The beginning of most scripts: reads the mark.
 *   KEYS   1 K, 2 K:meta
 *   ARGV   1 offset of the mark, 2 known mark in hex
 *   LAST   offset of the last byte to read: 3 bytes after the first; 4 bytes in filters that grow
 *          or forget, so that the string must end after the mark
 *   m      the present mark, a number (0: lost or damaged); live: true if m is the known mark
 *   apart  true if the mark does not fit after the bits, so only K:meta has the mark */
#define LIVE_TO(LAST)                                                                              \
    "local at, m = tonumber(ARGV[1]), 0\n"                                                         \
    "local apart = at > 536870904\n"                                                               \
    "if apart then\n"                                                                              \
    " local text = call('STRLEN', KEYS[1]) == at and call('HGET', KEYS[2], 'mark') or ''\n"        \
    " if string.match(text, '^' .. string.rep('%x', 8) .. '$') then m = tonumber(text, 16) end\n"  \
    "else\n"                                                                                       \
    " local b = call('GETRANGE', KEYS[1], ARGV[1], " LAST ")\n"                                    \
    " if #b == 4 then m = struct.unpack('>I4', b) end\n"                                           \
    "end\n"                                                                                        \
    "local live = m ~= 0 and m == tonumber(ARGV[2], 16)\n"
#define LIVE LIVE_TO("at + 3")
/* true if K:meta has the known mark too, so K:meta belongs to the bits */
#define MINE "call('HGET', KEYS[2], 'mark') == ARGV[2]"

/* Creates K and K:meta. An upload writes from the end to the beginning. So if the temporary key is
 * lost during the upload, later commands re-create it, but shorter, without the mark.
 *   KEYS     1 K, 2 K:meta, 3 the temporary key that becomes K (may be missing)
 *   ARGV     1 mark in the K:meta of a lost filter that may be replaced, or '', 2 length of the
 *            temporary key; fields of K:meta
 *   returns  1; 0: the name is in use; -1: the temporary key is lost or incomplete */
const char bf_script_create[] =
    "local lost = call('EXISTS', KEYS[2]) == 0 or call('HGET', KEYS[2], 'mark') == ARGV[1]\n"
    "if call('EXISTS', KEYS[1]) == 1 or not lost then\n"
    " if KEYS[3] then call('DEL', KEYS[3]) end\n"
    " return 0\n"
    "end\n"
    "if KEYS[3] then\n"
    " if call('STRLEN', KEYS[3]) ~= tonumber(ARGV[2]) then return -1 end\n"
    " call('PERSIST', KEYS[3])\n"
    " call('RENAME', KEYS[3], KEYS[1])\n"
    "end\n"
    "call('DEL', KEYS[2])\n"
    "call('HSET', KEYS[2], unpack(ARGV, 3))\n"
    "return 1";

/* Combines an uploaded bitmap with K.
 *   KEYS     1 K, 2 K:meta, 3 the temporary key with the bitmap
 *   ARGV     1 and 2 as in LIVE, 3 LAST minus the offset of the mark, 4 new mark in hex, 5 the same
 *            as bytes, 6 OR, AND or REPLACE, then fields and values for K:meta
 *   returns  1; 0: K has another mark; -1: the temporary key is incomplete */
const char bf_script_exchange[] =
    LIVE_TO("at + ARGV[3]") "if not live then return 0 end\n"
         "if call('STRLEN', KEYS[3]) ~= (apart and at or at + 4) then return -1 end\n"
         "local ttl, mine = call('PTTL', KEYS[1]), " MINE "\n"
         "if ARGV[6] == 'OR' then\n"
         " if not apart then call('SETRANGE', KEYS[3], at, '\\0\\0\\0\\0') end\n"
         " call('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[3])\n"
         " call('DEL', KEYS[3])\n"
         "else\n"
         " if ARGV[6] == 'AND' then\n"
         "  call('BITOP', 'AND', KEYS[3], KEYS[1], KEYS[3])\n"
         "  if not apart then call('SETRANGE', KEYS[3], at, ARGV[5]) end\n"
         " end\n"
         " call('PERSIST', KEYS[3])\n"
         " call('RENAME', KEYS[3], KEYS[1])\n"
         " if mine then call('HSET', KEYS[2], 'mark', ARGV[4]) end\n"
         "end\n"
         "if mine and #ARGV > 6 then call('HSET', KEYS[2], unpack(ARGV, 7)) end\n"
         "if ttl >= 0 then call('PEXPIRE', KEYS[1], ttl) end\n"
         "return 1";

/* Runs a command on K and K:meta. If K:meta is the only key, runs it on K:meta.
 *   ARGV   1 to 3 as in bf_script_exchange (only K:meta: 2 is the field born), 4 the command, 5 its
 *          argument */
const char bf_script_care[] = "if #KEYS == 1 then\n"
                              " if call('HGET', KEYS[1], 'born') ~= ARGV[2] then return 0 end\n"
                              "else\n"
                              " " LIVE_TO("at + ARGV[3]") " if not live then return 0 end\n"
                              " if " MINE " then call(ARGV[4], KEYS[2], unpack(ARGV, 5)) end\n"
                              "end\n"
                              "call(ARGV[4], KEYS[1], unpack(ARGV, 5))\n"
                              "return 1";

/* ---- filters that grow or forget ----
 *   KEYS   1 K, 2 K:meta
 *   ARGV   1 offset of the mark, 2 known mark as bytes, 3 the same in hex
 * SAME reads the mark in K:meta and another field into meta. It goes on only if both marks are the
 * known mark, and the string ends after the mark. Otherwise the script returns {-1}. */
#define SAME(FIELD)                                                                                \
    "local KEYS, ARGV, get = KEYS, ARGV, struct.unpack\n"                                          \
    "local meta = call('HMGET', KEYS[2], 'mark', " FIELD ")\n"                                     \
    "if call('GETRANGE', KEYS[1], ARGV[1], ARGV[1] + 4) ~= ARGV[2] or meta[1] ~= ARGV[3] then\n"   \
    " return {-1}\n"                                                                               \
    "end\n"

/* Appends a part: zeros, then a new mark. The old mark becomes bits of the part.
 *   ARGV     4 offset of the new mark, 5 new mark as bytes, 6 the same in hex, 7 known number of
 *            parts, 8 m, n and p of the part
 *   returns  {1} */
const char bf_script_append[] = SAME("'parts'")
    "if meta[2] ~= ARGV[7] then return {-1} end\n"
    "call('SETRANGE', KEYS[1], ARGV[4], ARGV[5])\n"
    "call('SETRANGE', KEYS[1], ARGV[1], '\\0\\0\\0\\0')\n"
    "call('HSET', KEYS[2], 'parts', ARGV[7] + 1, 'part' .. ARGV[7], ARGV[8], 'mark', ARGV[6])\n"
    "return {1}";

/* Adds keys to a growing filter.
 *   ARGV     4 number of parts, 5 k, 6 maximum and 7 known number of keys in the newest part, 8 the
 *            positions: for each key, for each part, k positions of 11 bytes (decimal, then NULs;
 *            one argument per position would take Redis more time)
 *   returns  number of keys in the newest part; then for each key the number of a part that
 *            contains it, 0 (it was absent and is added) or -2 (absent, but the part is full);
 *            or an error if the number of keys in K:meta is not a number */
#define PARTS                                                                                      \
    SAME("'keys' .. ARGV[4] - 1")                                                                  \
    "local key, parts, k = KEYS[1], tonumber(ARGV[4]), tonumber(ARGV[5])\n"                        \
    "local most = tonumber(ARGV[6])\n"                                                             \
    "local text, pos, wide = meta[2], ARGV[8], 11 * k\n"                                           \
    "if text and not string.match(text, '^%d+$') then\n"                                           \
    " local v = string.sub(text, 1, 24)\n"                                                         \
    " return {err = \"DAMAGED field keys of its newest part is '\" .. v .. \"'\"}\n"               \
    "end\n"                                                                                        \
    "local had, out, n = tonumber(text or 0), {}, 1\n"
#define KEEP_KEYS                                                                                  \
    "if keys ~= had then\n"                                                                        \
    " call('HSET', KEYS[2], 'keys' .. ARGV[4] - 1, string.format('%.0f', keys))\n"                 \
    "end\n"                                                                                        \
    "out[1] = keys\n"                                                                              \
    "return out"
/* A BITFIELD that sets up to 1000 bits of a key. FILL sets the positions from offset `first` to
 * `stop` in pos, each increased by `by`, and calls the command for each thousand. */
#define SET_BITS                                                                                   \
    "local set = {'BITFIELD', key}\n"                                                              \
    "for j = 1, math.min(k, 1000) do\n"                                                            \
    " set[4 * j - 1], set[4 * j], set[4 * j + 2] = 'SET', 'u1', '1'\n"                             \
    "end\n"                                                                                        \
    "local function fill(first, stop, by)\n"                                                       \
    " local had = 1\n"                                                                             \
    " for j = first, stop - 1, 11000 do\n"                                                         \
    "  local c = 2\n"                                                                              \
    "  for q = j, math.min(j + 11000, stop) - 1, 11 do\n"                                          \
    "   set[c + 3] = get('s', pos, q) + by\n"                                                      \
    "   c = c + 4\n"                                                                               \
    "  end\n"                                                                                      \
    "  for _, v in ipairs(call(unpack(set, 1, c))) do\n"                                           \
    "   if v == 0 then had = 0 end\n"                                                              \
    "  end\n"                                                                                      \
    " end\n"                                                                                       \
    " return had\n"                                                                                \
    "end\n"

const char bf_script_put[] = PARTS SET_BITS
    "local keys = math.max(had, tonumber(ARGV[7]))\n"
    "for from = 1, #pos, parts * wide do\n"
    " local found, stop = 0, from + parts * wide\n"
    " for i = parts, 1, -1 do\n"
    "  local j = stop - wide\n"
    "  while j < stop and call('GETBIT', key, (get('s', pos, j))) == 1 do j = j + 11 end\n"
    "  if j == stop then\n"
    "   found = i\n"
    "   break\n"
    "  end\n"
    "  stop = stop - wide\n"
    " end\n"
    " if found == 0 and keys >= most then\n"
    "  found = -2\n"
    " elseif found == 0 then\n"
    "  keys = keys + 1\n"
    "  stop = from + parts * wide\n"
    "  fill(stop - wide, stop, 0)\n"
    " end\n"
    " n = n + 1\n"
    " out[n] = found\n"
    "end\n" KEEP_KEYS;

/* Adds keys to a forgetting filter. If a new epoch has begun, first empties its slice and those of
 * the epochs that were skipped, and gives the string a new mark. Goes on with any mark, if K and
 * K:meta have the same: the slices are always in the same places.
 *   ARGV     1 offset of the mark, 2 the field born, 3 new mark as bytes, 4 the same in hex,
 *            5 length of an epoch in seconds, 6 number of slices, 7 bits per slice, 8 time of the
 *            caller's clock or '', 9 '1' if that clock counts (it may be behind Redis's, but not
 *            ahead by more than an epoch), 10 k, 11 the positions in a slice, as in bf_script_put
 *   returns  the mark, the epoch, then for each key 1 if it was present, else 0; or {-1}: K and
 *            K:meta do not match; or {-4, seconds, microseconds}, Redis's time, if the clocks
 *            differ too much */
const char bf_script_remember[] =
    "if redis.replicate_commands then redis.replicate_commands() end\n"
    "local ARGV, key, get = ARGV, KEYS[1], struct.unpack\n"
    "local mark, meta = call('GETRANGE', key, ARGV[1], ARGV[1] + 4),\n"
    " call('HMGET', KEYS[2], 'mark', 'born', 'epoch')\n"
    "if #mark ~= 4 or string.format('%02x%02x%02x%02x', mark:byte(1, 4)) ~= meta[1] or\n"
    " meta[2] ~= ARGV[2] then\n"
    " return {-1}\n"
    "end\n"
    "local step, slices, bits = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])\n"
    "local own, users, k, pos = tonumber(ARGV[8]), ARGV[9] == '1', tonumber(ARGV[10]), ARGV[11]\n"
    "if meta[3] and not string.match(meta[3], '^%-?%d+$') then\n"
    " return {err = \"DAMAGED field epoch is '\" .. string.sub(meta[3], 1, 24) .. \"'\"}\n"
    "end\n"
    "local t, had = call('TIME'), tonumber(meta[3] or '')\n"
    "local now = t[1] + t[2] / 1e6\n"
    "if own and (own - now > step or not users and now - own > step) then\n"
    " return {-4, tonumber(t[1]), tonumber(t[2])}\n"
    "end\n"
    "local epoch, wide = math.floor((users and own or now) / step), 11 * k\n"
    "if had and had > epoch then epoch = had end\n"
    "if epoch ~= had then\n"
    " local bytes = bits / 8\n"
    " local zeros = string.rep('\\0', math.min(bytes, 1048576))\n"
    " for e = had and math.max(had + 1, epoch - slices + 1) or epoch + 1, epoch do\n"
    "  for at = 0, bytes - 1, #zeros do\n"
    "   local piece = bytes - at < #zeros and string.sub(zeros, 1, bytes - at) or zeros\n"
    "   call('SETRANGE', key, e % slices * bytes + at, piece)\n"
    "  end\n"
    " end\n"
    " mark = ARGV[3]\n"
    " call('SETRANGE', key, ARGV[1], mark)\n"
    " call('HSET', KEYS[2], 'epoch', string.format('%.0f', epoch), 'mark', ARGV[4])\n"
    "end\n" SET_BITS
    "local out, n = {(get('>I4', mark)), epoch}, 2\n"
    "for from = 1, #pos, wide do\n"
    " local stop, i = from + wide, 1\n"
    " local found = fill(from, stop, epoch % slices * bits)\n"
    " while found == 0 and i < slices do\n"
    "  local j, by = from, (epoch - i) % slices * bits\n"
    "  while j < stop and call('GETBIT', key, get('s', pos, j) + by) == 1 do j = j + 11 end\n"
    "  if j == stop then found = 1 end\n"
    "  i = i + 1\n"
    " end\n"
    " n = n + 1\n"
    " out[n] = found\n"
    "end\n"
    "return out";

/* Functions for counters.
 *   read   the values of cells up to the first 0, and the smallest value; by GETRANGE, because a
 *          full Redis and a replica refuse BITFIELD
 *   raise  adds `by` to cells, a thousand per BITFIELD
 *   lower  subtracts 1 from the cells whose value v is below 15 */
#define COUNTERS                                                                                   \
    "local function read(key, cells)\n"                                                            \
    " local v, least = {}, 15\n"                                                                   \
    " for j, cell in ipairs(cells) do\n"                                                           \
    "  local i = tonumber(string.sub(cell, 2))\n"                                                  \
    "  local at = math.floor(i / 2)\n"                                                             \
    "  local byte = call('GETRANGE', key, at, at):byte() or 0\n"                                   \
    "  v[j] = i % 2 == 0 and math.floor(byte / 16) or byte % 16\n"                                 \
    "  least = math.min(least, v[j])\n"                                                            \
    "  if least == 0 then break end\n"                                                             \
    " end\n"                                                                                       \
    " return v, least\n"                                                                           \
    "end\n"                                                                                        \
    "local function raise(key, cells, by)\n"                                                       \
    " for i = 1, #cells, 1000 do\n"                                                                \
    "  local c = {'BITFIELD', key, 'OVERFLOW', 'SAT'}\n"                                           \
    "  for j = i, math.min(i + 999, #cells) do\n"                                                  \
    "   local n = #c\n"                                                                            \
    "   c[n + 1], c[n + 2], c[n + 3], c[n + 4] = 'INCRBY', 'u4', cells[j], by\n"                   \
    "  end\n"                                                                                      \
    "  call(unpack(c))\n"                                                                          \
    " end\n"                                                                                       \
    "end\n"                                                                                        \
    "local function lower(key, cells, v)\n"                                                        \
    " local down = {}\n"                                                                           \
    " for j, cell in ipairs(cells) do\n"                                                           \
    "  if v[j] < 15 then down[#down + 1] = cell end\n"                                             \
    " end\n"                                                                                       \
    " raise(key, down, '-1')\n"                                                                    \
    "end\n"

/* Adds, removes or counts keys of a counting filter that grows: each key in the oldest part that
 * contains it (parts/grow.c). As bf_script_put, except:
 *   ARGV     7 is not used; a repeated position is empty; 9 the operation
 *   returns  for a removed key, the number of its part, or 0 if the key was absent; for a counted
 *            key, its count */
const char bf_script_count[] = PARTS COUNTERS
    "local keys, op = had, ARGV[9]\n"
    "for from = 1, #pos, parts * wide do\n"
    " local found, least, cells, v = 0, 0\n"
    " for i = 1, parts do\n"
    "  cells = {}\n"
    "  for j = from + (i - 1) * wide, from + i * wide - 1, 11 do\n"
    "   local cell = get('s', pos, j)\n"
    "   if cell ~= '' then cells[#cells + 1] = '#'..cell end\n"
    "  end\n"
    "  v, least = read(key, cells)\n"
    "  if least > 0 then\n"
    "   found = i\n"
    "   break\n"
    "  end\n"
    " end\n"
    " n = n + 1\n"
    " out[n] = found\n"
    " if op == 'count' then\n"
    "  out[n] = least\n"
    " elseif op == 'remove' and found > 0 then\n"
    "  lower(key, cells, v)\n"
    "  if least == 1 and found == parts and keys > 0 then keys = keys - 1 end\n"
    " elseif op == 'add' and found == 0 and keys >= most then\n"
    "  out[n] = -2\n"
    " elseif op == 'add' then\n"
    "  if found == 0 then keys = keys + 1 end\n"
    "  raise(key, cells, '1')\n"
    " end\n"
    "end\n" KEEP_KEYS;

/* Adds keys to bits or counters. A BITFIELD has 32 positions, of several keys or of a part of one.
 * struct.unpack writes four positions at once into its arguments. `from`: place of a key's first
 * position in the present BITFIELD; below 1, it was in an earlier one.
 *   ARGV     3 number of positions per key; 4 the positions, as for BITFIELD, each ending with NUL
 *            (one argument per position, or numbers, would take more time), then three NULs; 5 ''
 *            for bits; for counters one byte per position, the increment; 6 number of positions
 *   returns  for each key 1 if all its cells were above 0 before, else 0; or -1 if the mark
 *            differs. Then the present mark, by which the caller knows that the reply is its own */
#define ADD                                                                                        \
    "if not live then return {-1, m} end\n"                                                        \
    "local get, k, pos, by = struct.unpack, tonumber(ARGV[3]), ARGV[4], ARGV[5]\n"                 \
    "local all, bits, c = tonumber(ARGV[6]), by == '', {'BITFIELD', KEYS[1]}\n"                    \
    "local set, kind, least, most = 'SET', 'u1', 1, math.min(all, 32)\n"                           \
    "if not bits then\n"                                                                           \
    " c, set, kind, least = {'BITFIELD', KEYS[1], 'OVERFLOW', 'SAT'}, 'INCRBY', 'u4', 2\n"         \
    "end\n"                                                                                        \
    "local head = #c\n"                                                                            \
    "for j = head + 1, head + 4 * most, 4 do\n"                                                    \
    " c[j], c[j + 1], c[j + 2], c[j + 3] = set, kind, '', '1'\n"                                   \
    "end\n"                                                                                        \
    "local out, key, had, from, at = {}, 0, 1, 1, 1\n"                                             \
    "for first = 1, all, most do\n"                                                                \
    " local n = math.min(most, all - first + 1)\n"                                                 \
    " for j = head + 3, head + 4 * n, 16 do\n"                                                     \
    "  c[j], c[j + 4], c[j + 8], c[j + 12], at = get('ssss', pos, at)\n"                           \
    " end\n"                                                                                       \
    " for j = 1, bits and 0 or n do\n"                                                             \
    "  c[head + 4 * j] = by:byte(first + j - 1)\n"                                                 \
    " end\n"                                                                                       \
    " local v = call(unpack(c, 1, head + 4 * n))\n"                                                \
    " while from <= n do\n"                                                                        \
    "  local last = from + k - 1\n"                                                                \
    "  for j = math.max(from, 1), math.min(last, n) do\n"                                          \
    "   if v[j] < least then\n"                                                                    \
    "    had = 0\n"                                                                                \
    "    break\n"                                                                                  \
    "   end\n"                                                                                     \
    "  end\n"                                                                                      \
    "  if last > n then break end\n"                                                               \
    "  key = key + 1\n"                                                                            \
    "  out[key], had, from = had, 1, last + 1\n"                                                   \
    " end\n"                                                                                       \
    " from = from - n\n"                                                                           \
    "end\n"                                                                                        \
    "out[key + 1] = m\n"                                                                           \
    "return out"

const char bf_script_add[] = LIVE ADD;

/* Adds one key to bits, in a third less time than bf_script_add. The mark must be after the bits.
 *   KEYS     1 K
 *   ARGV     1 and 2 offset of the first and the last byte of the mark, 3 known mark as bytes, then
 *            the arguments of BITFIELD
 *   returns  as bf_script_add */
const char bf_script_add_one[] =
    "local v = call('GETRANGE', KEYS[1], ARGV[1], ARGV[2])\n"
    "local m = #v == 4 and struct.unpack('>I4', v) or 0\n"
    "if v ~= ARGV[3] then return {-1, m} end\n"
    "v = call('BITFIELD', KEYS[1], unpack(ARGV, 4))\n"
    "for i = 1, #v do\n"
    " if v[i] == 0 then return {0, m} end\n"
    "end\n"
    "return {1, m}";

/* Adds keys to a bitmap of another system, which has no mark. Refuses if there is a K:meta, unless
 * K:meta shows that the bitmap was adopted with the same m.
 *   ARGV   1 '', 2 m, 3 to 6 as above */
const char bf_script_add_foreign[] =
    "local m, own = 0, call('HMGET', KEYS[2], 'm', 'adopted')\n"
    "local live = not own[1] or own[1] == ARGV[2] and own[2] == '1'\n" ADD;

/* Adds keys to Redisson's bits.
 *   ARGV   1 size and 2 hashIterations, which Redisson's hash must have; 3 to 6 as above */
const char bf_script_add_redisson[] =
    "local own = call('HMGET', KEYS[2], 'size', 'hashIterations')\n"
    "local live = own[1] == ARGV[1] and own[2] == ARGV[2]\n"
    "local m = live and 1 or own[1] and own[2] and 2 or 0\n" ADD;

/* Removes keys: decrements the counters of each key that is present.
 *   ARGV     as for adds; in 5, the byte of a repeated position is 0 and all others are 1
 *   returns  as bf_script_add: for each key 1 if it was present, else 0 */
const char bf_script_count_down[] =
    LIVE "if not live then return {-1, m} end\n" COUNTERS
         "local k, out, at, named = tonumber(ARGV[3]), {}, 1, 0\n"
         "while named < tonumber(ARGV[6]) do\n"
         " local cells = {}\n"
         " for i = named + 1, named + k do\n"
         "  local cell\n"
         "  cell, at = struct.unpack('s', ARGV[4], at)\n"
         "  if ARGV[5]:byte(i) == 1 then cells[#cells + 1] = cell end\n"
         " end\n"
         " named = named + k\n"
         " local v, least = read(KEYS[1], cells)\n"
         " if least > 0 then lower(KEYS[1], cells, v) end\n"
         " out[#out + 1] = least > 0 and 1 or 0\n"
         "end\n"
         "out[#out + 1] = m\n"
         "return out";

/* Adopts a bitmap of another system.
 *   ARGV     1 offset of the mark, 2 number of bytes of m, 3 maximum number of bytes that one run
 *            adds, 4 mark in K:meta or '', 5 new mark as bytes, the fields of K:meta
 *   returns  1; 2: the string was only lengthened, run the script again */
const char bf_script_adopt[] =
    "local at, bytes, n = tonumber(ARGV[1]), tonumber(ARGV[2]), call('STRLEN', KEYS[1])\n"
    "local apart = at > 536870904\n"
    "if n == 0 or (n > bytes and n ~= at + 4) then return 0 end\n"
    "if (call('HGET', KEYS[2], 'mark') or '') ~= ARGV[4] then return 0 end\n"
    "if ARGV[4] == '' and call('EXISTS', KEYS[2]) == 1 then return 0 end\n"
    "if n + tonumber(ARGV[3]) < bytes then\n"
    " call('SETRANGE', KEYS[1], n + ARGV[3] - 1, '\\0')\n"
    " return 2\n"
    "end\n"
    "if not apart then\n"
    " call('SETRANGE', KEYS[1], at, ARGV[5])\n"
    "elseif n < at then\n"
    " call('SETRANGE', KEYS[1], at - 1, '\\0')\n"
    "end\n"
    "call('DEL', KEYS[2])\n"
    "call('HSET', KEYS[2], unpack(ARGV, 6))\n"
    "local ttl = call('PTTL', KEYS[1])\n"
    "if ttl >= 0 then call('PEXPIRE', KEYS[2], ttl) end\n"
    "return 1";
