/* scripts.c - the Lua scripts, which other files send. If a script finds a Redis key in another
 * state than the caller has seen, it changes nothing and returns 0 or the value in its comment. */
#include "redis/redis.h"

/* clang-format off */

/* The beginning of most scripts: reads the mark.
 *   KEYS   1 K, 2 K:meta
 *   ARGV   1 offset of the mark, 2 known mark
 *   m      the present mark (8 hex digits; zeros: lost or damaged); live: true if m is the known
 *          mark
 *   apart  true if the mark does not fit after the bits, so only K:meta has the mark */
#define LIVE                                                                                       \
    "local at = tonumber(ARGV[1])\n"                                                               \
    "local apart, m = at > 536870904, '00000000'\n"                                                \
    "if apart then\n"                                                                              \
    " local text = call('STRLEN', KEYS[1]) == at and call('HGET', KEYS[2], 'mark') or ''\n"        \
    " if string.match(text, '^' .. string.rep('%x', 8) .. '$') then m = text end\n"                \
    "else\n"                                                                                       \
    " local b = call('GETRANGE', KEYS[1], at, at + 3)\n"                                           \
    " if #b == 4 then m = string.format('%02x%02x%02x%02x', b:byte(1, 4)) end\n"                   \
    "end\n"                                                                                        \
    "local live = m ~= '00000000' and m == ARGV[2]\n"
/* true if K:meta has the mark m, so K:meta belongs to the bits */
#define MINE "call('HGET', KEYS[2], 'mark') == m"

/* Creates K and K:meta.
 *   KEYS     1 K, 2 K:meta, 3 the temporary key that becomes K (may be missing)
 *   ARGV     1 mark in the K:meta of a lost filter that may be replaced, or ''; fields of K:meta
 *   returns  1; 0: the name is in use; -1: the temporary key is lost */
const char bf_script_create[] =
    "local lost = call('EXISTS', KEYS[2]) == 0 or call('HGET', KEYS[2], 'mark') == ARGV[1]\n"
    "if call('EXISTS', KEYS[1]) == 1 or not lost then\n"
    " if KEYS[3] then call('DEL', KEYS[3]) end\n"
    " return 0\n"
    "end\n"
    "if KEYS[3] then\n"
    " if call('PERSIST', KEYS[3]) == 0 then return -1 end\n"
    " call('RENAME', KEYS[3], KEYS[1])\n"
    "end\n"
    "call('DEL', KEYS[2])\n"
    "call('HSET', KEYS[2], unpack(ARGV, 2))\n"
    "return 1";

/* Combines an uploaded bitmap with K. An upload writes from the end to the beginning. So if the
 * temporary key is lost during the upload, later commands re-create it without the mark.
 *   KEYS     1 K, 2 K:meta, 3 the temporary key with the bitmap
 *   ARGV     1 and 2 as in LIVE, 3 new mark in hex, 4 the same as bytes, 5 OR, AND or REPLACE
 *   returns  1; 0: K has another mark; -1: the temporary key is incomplete */
const char bf_script_exchange[] =
    LIVE "if not live then return 0 end\n"
         "local complete = apart and call('STRLEN', KEYS[3]) == at or\n"
         " not apart and call('GETRANGE', KEYS[3], at, at + 3) == ARGV[4]\n"
         "if not complete then return -1 end\n"
         "local ttl, mine = call('PTTL', KEYS[1]), " MINE "\n"
         "if ARGV[5] == 'OR' then\n"
         " if not apart then call('SETRANGE', KEYS[3], at, '\\0\\0\\0\\0') end\n"
         " call('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[3])\n"
         " call('DEL', KEYS[3])\n"
         "else\n"
         " if ARGV[5] == 'AND' then\n"
         "  call('BITOP', 'AND', KEYS[3], KEYS[1], KEYS[3])\n"
         "  if not apart then call('SETRANGE', KEYS[3], at, ARGV[4]) end\n"
         " elseif mine and call('HEXISTS', KEYS[2], 'keys') == 1 then\n"
         "  call('HSET', KEYS[2], 'keys', 0)\n"
         " end\n"
         " call('PERSIST', KEYS[3])\n"
         " call('RENAME', KEYS[3], KEYS[1])\n"
         " if mine then call('HSET', KEYS[2], 'mark', ARGV[3]) end\n"
         "end\n"
         "if ttl > 0 then call('PEXPIRE', KEYS[1], ttl) end\n"
         "return 1";

/* Runs a command on K and K:meta. If K:meta is the only key, runs it on K:meta.
 *   ARGV   1 and 2 as in LIVE (only K:meta: 2 is the field born), 3 the command, 4 its argument */
const char bf_script_care[] = "if #KEYS == 1 then\n"
                              " if call('HGET', KEYS[1], 'born') ~= ARGV[2] then return 0 end\n"
                              "else\n"
                              " " LIVE " if not live then return 0 end\n"
                              " if " MINE " then call(ARGV[3], KEYS[2], unpack(ARGV, 4)) end\n"
                              "end\n"
                              "call(ARGV[3], KEYS[1], unpack(ARGV, 4))\n"
                              "return 1";

/* Gives a complete part its name, which must be free or belong to a part of this filter or of an
 * earlier filter with the same K:meta.
 *   KEYS     1 newest part and 2 its hash (K and K:meta if there is no part), 3 temporary key,
 *            4 new part and 5 its hash, 6 K:meta
 *   ARGV     1 offset of the mark of the newest part, 2 its known mark, 3 its new mark as bytes,
 *            4 the same in hex
 *   meta     the fields of the new part's hash; meta[2] is the owner, meta[4] the field filter
 *   again    true if a lost filter is re-created and K:meta exists; then a string of the part's
 *            length is a part that has lost its hash
 *   returns  3: the name is in use; -1: the temporary key is lost */
#define FAIL                                                                                       \
    "local function fail(v)\n"                                                                     \
    " call('DEL', KEYS[3])\n"                                                                      \
    " return v\n"                                                                                  \
    "end\n"                                                                                        \
    "local meta\n"                                                                                 \
    "local function ours(hash)\n"                                                                  \
    " local v = redis.pcall('HMGET', hash, 'owner', 'filter')\n"                                   \
    " return v[1] == meta[2] and v[2] and string.sub(v[2], 10) == KEYS[6]\n"                       \
    "end\n"
#define NAME_PART                                                                                  \
    "local kind = call('TYPE', KEYS[4]).ok\n"                                                      \
    "local free = kind == 'none' and call('EXISTS', KEYS[5]) == 0\n"                               \
    "local own = (kind == 'none' or kind == 'string') and ours(KEYS[5])\n"                         \
    "local bare = again and kind == 'string' and call('EXISTS', KEYS[5]) == 0 and\n"               \
    " call('STRLEN', KEYS[4]) == call('STRLEN', KEYS[3])\n"                                        \
    "if not (free or own or bare) then return fail(3) end\n"                                       \
    "if call('PERSIST', KEYS[3]) == 0 then return -1 end\n"                                        \
    "call('RENAME', KEYS[3], KEYS[4])\n"                                                           \
    "call('DEL', KEYS[5])\n"                                                                       \
    "call('HSET', KEYS[5], unpack(meta))\n"

/* Appends a part to a growing filter. For the first part, also creates K:meta and deletes the parts
 * of the lost filter that is replaced.
 *   KEYS     1 to 6 as above; for the first part also all possible later parts and their hashes
 *   ARGV     1 to 4 as above (for the first part, 2 is the field born of the lost filter, or ''),
 *            5 index of the part, 6 number of arguments for K:meta (0 unless it is the first part),
 *            the arguments for K:meta, the arguments for the part's hash
 *   returns  1; 2: the newest part has another mark */
const char bf_script_append[] = FAIL
    "local n, again = tonumber(ARGV[5]), false\n"
    "meta = {unpack(ARGV, 7 + ARGV[6])}\n"
    "if n == 0 then\n"
    " again = call('EXISTS', KEYS[6]) == 1\n"
    " local lost = ARGV[2] ~= '' and call('HGET', KEYS[6], 'born') == ARGV[2]\n"
    " if call('EXISTS', KEYS[1]) == 1 or again and not lost then return fail(0) end\n"
    "else\n"
    " if call('HGET', KEYS[6], 'parts') ~= ARGV[5] then return fail(0) end\n"
    " " LIVE " if not live then return fail(2) end\n"
    "end\n" NAME_PART "if n == 0 then\n"
    " for i = 7, #KEYS, 2 do\n"
    "  if ours(KEYS[i + 1]) then call('DEL', KEYS[i], KEYS[i + 1]) end\n"
    " end\n"
    " call('DEL', KEYS[6])\n"
    " call('HSET', KEYS[6], unpack(ARGV, 7, 6 + ARGV[6]))\n"
    " return 1\n"
    "end\n"
    "local ttl = call('PTTL', KEYS[6])\n"
    "if ttl > 0 then\n"
    " call('PEXPIRE', KEYS[4], ttl)\n"
    " call('PEXPIRE', KEYS[5], ttl)\n"
    "end\n"
    "if call('HGET', KEYS[2], 'mark') == ARGV[2] then call('HSET', KEYS[2], 'mark', ARGV[4]) end\n"
    "call('SETRANGE', KEYS[1], ARGV[1], ARGV[3])\n"
    "call('HSET', KEYS[6], 'parts', n + 1)\n"
    "return 1";

/* Creates the part of an epoch.
 *   KEYS     1 to 6 as above
 *   ARGV     1 to 4 as above (2 is the field born of K:meta), 5 epoch, 6 time to live of the part
 *            in ms, 7 oldest living epoch, 8 newest epoch or '', the arguments for the part's hash
 *   returns  1; 2: K:meta does not exist */
const char bf_script_turn[] =
    FAIL "if call('EXISTS', KEYS[6]) == 0 then return fail(2) end\n"
         "if call('HGET', KEYS[6], 'born') ~= ARGV[2] then return fail(0) end\n"
         "local newest = tonumber(call('HGET', KEYS[6], 'epoch') or '')\n"
         "if newest ~= tonumber(ARGV[8]) then return fail(0) end\n"
         "if call('HEXISTS', KEYS[6], 'e'..ARGV[5]) == 1 then return fail(0) end\n"
         "local again = false\n"
         "meta = {unpack(ARGV, 9)}\n" NAME_PART "if newest then\n"
         " local of = call('HGET', KEYS[2], 'filter')\n"
         " if call('EXISTS', KEYS[1]) == 1 and (not of or of == meta[4]) then\n"
         "  call('SETRANGE', KEYS[1], ARGV[1], ARGV[3])\n"
         " end\n"
         " if of == meta[4] then call('HSET', KEYS[2], 'mark', ARGV[4]) end\n"
         "end\n"
         "call('PEXPIRE', KEYS[4], ARGV[6])\n"
         "call('PEXPIRE', KEYS[5], ARGV[6])\n"
         "for _, field in ipairs(call('HKEYS', KEYS[6])) do\n"
         " local e = tonumber(string.match(field, '^e(-?%d+)$') or '')\n"
         " if e and e < tonumber(ARGV[7]) then call('HDEL', KEYS[6], field) end\n"
         "end\n"
         "if not newest or newest < tonumber(ARGV[5]) then\n"
         " call('HSET', KEYS[6], 'epoch', ARGV[5])\n"
         "end\n"
         "call('HSET', KEYS[6], 'e'..ARGV[5], '1')\n"
         "return 1";

/* Adds keys to a growing filter.
 *   KEYS     the parts (the newest last), the newest part's hash, K:meta
 *   ARGV     1 k, 2 maximum and 3 known number of keys in the newest part, 4 field born; then for
 *            each part: offset of the mark, mark as bytes, and k positions per key (11 bytes each,
 *            decimal, ending with NUL; one argument per position would take Redis more time)
 *   returns  number of keys in the newest part; then for each key the number of a part that
 *            contains it, 0 (it was absent and is added) or -2 (absent, but the part is full);
 *            or -1 and the marks of all parts if a mark differs; or -3 if K:meta has another id;
 *            or an error if the field keys is not a number */
#define PARTS                                                                                      \
    "local KEYS, ARGV, get = KEYS, ARGV, struct.unpack\n"                                          \
    "local parts, k, most = #KEYS - 2, tonumber(ARGV[1]), tonumber(ARGV[2])\n"                     \
    "local whole = call('HMGET', KEYS[parts + 2], 'kind', 'born')\n"                               \
    "if whole[1] ~= 'grow' or whole[2] ~= ARGV[4] then return {-3} end\n"                          \
    "local at, pos, other, marks = 5, {}, false, {-1}\n"                                           \
    "for i = 1, parts do\n"                                                                        \
    " local mark = call('GETRANGE', KEYS[i], ARGV[at], ARGV[at] + 3)\n"                            \
    " other = other or mark ~= ARGV[at + 1]\n"                                                     \
    " marks[i + 1] = #mark == 4 and get('>I4', mark) or 0\n"                                       \
    " pos[i] = ARGV[at + 2]\n"                                                                     \
    " at = at + 3\n"                                                                               \
    "end\n"                                                                                        \
    "if other then return marks end\n"                                                             \
    "local meta, last, wide = KEYS[parts + 1], pos[parts], 11 * k\n"                               \
    "local text = call('HGET', meta, 'keys')\n"                                                    \
    "if text and not string.match(text, '^%d+$') then\n"                                           \
    " local v = string.sub(text, 1, 24)\n"                                                         \
    " return {err = \"DAMAGED field keys of its newest part is '\" .. v .. \"'\"}\n"               \
    "end\n"                                                                                        \
    "local had = tonumber(text or ARGV[3])\n"
#define KEEP_KEYS                                                                                  \
    "if keys ~= had and call('HEXISTS', meta, 'format') == 1 then\n"                               \
    " call('HSET', meta, 'keys', string.format('%.0f', keys))\n"                                   \
    "end\n"                                                                                        \
    "out[1] = keys\n"                                                                              \
    "return out"

const char bf_script_put[] = PARTS
    "local keys = math.max(had, tonumber(ARGV[3]))\n"
    "local set = {'BITFIELD', KEYS[parts]}\n"
    "for j = 1, math.min(k, 1000) do set[4 * j - 1], set[4 * j], set[4 * j + 2] = 'SET', 'u1', '1' "
    "end\n"
    "local out, n = {}, 1\n"
    "for from = 1, #last, wide do\n"
    " local found, stop = 0, from + wide\n"
    " for i = parts, 1, -1 do\n"
    "  local key, p, j = KEYS[i], pos[i], from\n"
    "  while j < stop and call('GETBIT', key, (get('s', p, j))) == 1 do j = j + 11 end\n"
    "  if j == stop then\n"
    "   found = i\n"
    "   break\n"
    "  end\n"
    " end\n"
    " if found == 0 and keys >= most then\n"
    "  found = -2\n"
    " elseif found == 0 then\n"
    "  keys = keys + 1\n"
    "  for j = from, stop - 1, 11000 do\n"
    "   local c = 2\n"
    "   for q = j, math.min(j + 11000, stop) - 1, 11 do\n"
    "    set[c + 3] = get('s', last, q)\n"
    "    c = c + 4\n"
    "   end\n"
    "   call(unpack(set, 1, c))\n"
    "  end\n"
    " end\n"
    " n = n + 1\n"
    " out[n] = found\n"
    "end\n" KEEP_KEYS;

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
 *   ARGV     a repeated position is empty; the last argument is the operation
 *   returns  for a removed key, the number of its part, or 0 if the key was absent; for a counted
 *            key, its count */
const char bf_script_count[] = PARTS COUNTERS
    "local keys, op = had, ARGV[#ARGV]\n"
    "local out, n = {}, 1\n"
    "for from = 1, #last, wide do\n"
    " local found, least, cells, v = 0, 0\n"
    " for i = 1, parts do\n"
    "  cells = {}\n"
    "  for j = from, from + wide - 1, 11 do\n"
    "   local cell = get('s', pos[i], j)\n"
    "   if cell ~= '' then cells[#cells + 1] = '#'..cell end\n"
    "  end\n"
    "  v, least = read(KEYS[i], cells)\n"
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
    "  lower(KEYS[found], cells, v)\n"
    "  if least == 1 and found == parts and keys > 0 then keys = keys - 1 end\n"
    " elseif op == 'add' and found == 0 and keys >= most then\n"
    "  out[n] = -2\n"
    " elseif op == 'add' then\n"
    "  if found == 0 then keys = keys + 1 end\n"
    "  raise(KEYS[found > 0 and found or parts], cells, '1')\n"
    " end\n"
    "end\n" KEEP_KEYS;

/* Adds keys to bits or counters. A BITFIELD has at most 1000 positions, because Lua can pass about
 * 8000 arguments.
 *   ARGV     3 number of positions per key; 4 the positions, as for BITFIELD, each ending with NUL
 *            (one argument per position would take more time); 5 '' for bits; for counters one byte
 *            per position, the increment
 *   returns  for each key 1 if all its cells were above 0 before, else 0; or -1 if the mark
 *            differs. Then the present mark, by which the caller knows that the reply is its own */
#define ADD                                                                                        \
    "if not live then return {-1, tonumber(m, 16)} end\n"                                          \
    "local get, k, pos, by = struct.unpack, tonumber(ARGV[3]), ARGV[4], ARGV[5]\n"                 \
    "local bits, most = by == '', math.min(k, 1000)\n"                                             \
    "local c, least = {'BITFIELD', KEYS[1]}, 1\n"                                                  \
    "if not bits then\n"                                                                           \
    " c, least = {'BITFIELD', KEYS[1], 'OVERFLOW', 'SAT'}, 2\n"                                    \
    "end\n"                                                                                        \
    "local head = #c\n"                                                                            \
    "for j = head + 1, head + 4 * most, 4 do\n"                                                    \
    " c[j], c[j + 1] = bits and 'SET' or 'INCRBY', bits and 'u1' or 'u4'\n"                        \
    " c[j + 2], c[j + 3] = '', '1'\n"                                                              \
    "end\n"                                                                                        \
    "local out, key, at, raised = {}, 0, 1, 0\n"                                                   \
    "while at <= #pos do\n"                                                                        \
    " local had = 1\n"                                                                             \
    " for from = 1, k, most do\n"                                                                  \
    "  local n = math.min(most, k - from + 1)\n"                                                   \
    "  local p = {get(string.rep('s', n), pos, at)}\n"                                             \
    "  at = p[n + 1]\n"                                                                            \
    "  for j = 1, n do\n"                                                                          \
    "   c[head + 4 * j - 1] = p[j]\n"                                                              \
    "   if not bits then\n"                                                                        \
    "    raised = raised + 1\n"                                                                    \
    "    c[head + 4 * j] = by:byte(raised)\n"                                                      \
    "   end\n"                                                                                     \
    "  end\n"                                                                                      \
    "  local v = call(unpack(c, 1, head + 4 * n))\n"                                               \
    "  for j = 1, n do\n"                                                                          \
    "   if v[j] < least then\n"                                                                    \
    "    had = 0\n"                                                                                \
    "    break\n"                                                                                  \
    "   end\n"                                                                                     \
    "  end\n"                                                                                      \
    " end\n"                                                                                       \
    " key = key + 1\n"                                                                             \
    " out[key] = had\n"                                                                            \
    "end\n"                                                                                        \
    "out[key + 1] = tonumber(m, 16)\n"                                                             \
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
 *   ARGV   1 '', 2 m, 3 to 5 as above */
const char bf_script_add_foreign[] =
    "local m, own = '00000000', call('HMGET', KEYS[2], 'm', 'adopted')\n"
    "local live = not own[1] or own[1] == ARGV[2] and own[2] == '1'\n" ADD;

/* Adds keys to Redisson's bits.
 *   ARGV   1 size and 2 hashIterations, which Redisson's hash must have; 3 to 5 as above */
const char bf_script_add_redisson[] =
    "local own = call('HMGET', KEYS[2], 'size', 'hashIterations')\n"
    "local live = own[1] == ARGV[1] and own[2] == ARGV[2]\n"
    "local m = live and '00000001' or own[1] and own[2] and '00000002' or '00000000'\n" ADD;

/* Removes keys: decrements the counters of each key that is present.
 *   ARGV     as for adds; in 5, the byte of a repeated position is 0 and all others are 1
 *   returns  as bf_script_add: for each key 1 if it was present, else 0 */
const char bf_script_count_down[] =
    LIVE "if not live then return {-1, tonumber(m, 16)} end\n" COUNTERS
         "local k, out, at, named = tonumber(ARGV[3]), {}, 1, 0\n"
         "while at <= #ARGV[4] do\n"
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
         "out[#out + 1] = tonumber(m, 16)\n"
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
    "if ttl > 0 then call('PEXPIRE', KEYS[2], ttl) end\n"
    "return 1";
