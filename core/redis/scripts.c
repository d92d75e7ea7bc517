/* scripts.c - the Lua scripts. Knows the contents of K and K:meta. Other files send the scripts
 * and read their replies. A script returns 0 and changes nothing if a key is not in the state
 * that its caller has seen. */
#include "redis/redis.h"

/* clang-format off */

/* KEYS[1] is K, KEYS[2] is K:meta; ARGV[1] is the mark's offset, ARGV[2] the mark that the
 * caller knows. Sets m to the present mark (8 hex digits), and live to true if m is the known
 * mark. If there is no space for the mark after the bits (apart), only K:meta has the mark; a
 * damaged mark there counts as none. */
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
/* true if K:meta has that mark, so that it belongs to these bits */
#define MINE "call('HGET', KEYS[2], 'mark') == m"

/* Creates K and K:meta. KEYS are K, K:meta and, if there is one, the temporary key that becomes
 * K. ARGV[1] is '', or the mark in the K:meta of the lost filter that the caller has seen. The
 * other ARGV are the fields of K:meta. */
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

/* Combines an uploaded bitmap with K. KEYS[3] is the temporary key; ARGV[3] is its mark in hex,
 * ARGV[4] the same as bytes; ARGV[5] is OR, AND or REPLACE. Returns 1; 0 if K does not have the
 * mark ARGV[2]; -1 if the temporary key is incomplete: it was lost during the upload, and a
 * later command created it again. An upload goes from the end to the beginning, so such a key
 * has no mark at its end. */
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

/* Runs a command on K and K:meta. ARGV[3] is the command's name, ARGV[4] its argument, if there
 * is one. With one key, runs the command on the K:meta of a filter with several keys, if its
 * field born is ARGV[2]. */
const char bf_script_care[] = "if #KEYS == 1 then\n"
                              " if call('HGET', KEYS[1], 'born') ~= ARGV[2] then return 0 end\n"
                              "else\n"
                              " " LIVE " if not live then return 0 end\n"
                              " if " MINE " then call(ARGV[3], KEYS[2], unpack(ARGV, 4)) end\n"
                              "end\n"
                              "call(ARGV[3], KEYS[1], unpack(ARGV, 4))\n"
                              "return 1";

/* Gives a complete part its name. KEYS are: the newest part and its hash (or K and K:meta if
 * there is no part), the temporary key, the new part and its hash, K:meta. ARGV[1] and ARGV[2]
 * are the offset and the known mark of the newest part; ARGV[3] is its new mark as bytes,
 * ARGV[4] the same in hex. The variable meta has the fields of the new part's hash: meta[2] is
 * the owner, meta[4] the field filter. The name must be free, or belong to a part of this filter
 * or of an earlier filter with the same K:meta. The variable again is true if a lost filter is
 * re-created and K:meta exists; then a string of the part's length is a part that has lost its
 * hash. */
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

/* Appends a part to a growing filter. ARGV[5] is the part's index. ARGV[6] is the number of the
 * following arguments that are for K:meta (0 unless it is the first part); the arguments after
 * these are for the part's hash. For the first part, ARGV[2] is the field born of the lost
 * filter that it replaces, or ''; KEYS[7] and later are further parts and their hashes: those of
 * the lost filter are deleted. Returns 2 if the newest part has another mark. */
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

/* Creates the part of an epoch. ARGV[2] is the field born of K:meta, ARGV[5] the epoch, ARGV[6]
 * the part's time to live in ms, ARGV[7] the oldest living epoch, ARGV[8] the newest epoch that
 * exists, or ''. The arguments after these are for the part's hash. Returns 2 if K:meta does not
 * exist. */
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

/* Adds keys to a growing filter. KEYS are: the parts (the newest last), the newest part's hash,
 * K:meta. ARGV[1] is k; ARGV[2] the maximum number of keys in the newest part; ARGV[3] its
 * number of keys that the caller knows; ARGV[4] the field born of the filter. Then follow for
 * each part: the mark's offset, the mark as bytes, and k positions for each key (decimal, 11
 * bytes each, ending with NUL; an argument per position would take Redis more time). Returns the
 * number of keys in the newest part and, for each key, the number of a part that contains it, or
 * 0 if it was absent and is added now, or -2 if it is absent and there is no space. Returns -1
 * and the marks of all parts if a mark differs; -3 if K:meta differs; or an error if the field
 * keys is not a number. */
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
    " return {err = \"DAMAGED field keys of its newest part is '\" .. v .. \"'\"}\n"                \
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

/* Functions for counters. `read` returns the values of cells, up to the first 0, and the smallest;
 * it uses GETRANGE, because a full Redis and a replica refuse BITFIELD. `raise` adds `by` to the
 * cells, a thousand per BITFIELD; `lower` subtracts 1 from those whose value v is below 15. */
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

/* Adds, removes or counts keys of a counting filter that grows, in the oldest part that contains
 * them (parts/grow.c). KEYS and ARGV as for bf_script_put, but a repeated position is empty, and
 * the last argument is the operation. Returns as bf_script_put does; for a key that is removed, the
 * number of its part, or 0 if it was absent; for a key that is counted, its count. */
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

/* Adds keys to bits or counters. ARGV[3] is the number of positions per key. ARGV[4] has the
 * positions in the form that BITFIELD takes, each ending with NUL (an argument per position
 * would take more time). ARGV[5] is '' for bits; for counters it has one byte per position, by
 * which the counter is incremented. Returns for each key 1 if all its cells were above 0 before,
 * else 0. Returns -1 and the present mark if the mark differs. A BITFIELD has at most 1000
 * positions, because Lua can pass about 8000 arguments. */
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
    "return out"

const char bf_script_add[] = LIVE ADD;

/* Adds keys to a bitmap of another system, which has no mark. Refuses if it has become a filter
 * of ours, except by adoption with the same m (ARGV[2]). */
const char bf_script_add_foreign[] =
    "local m, own = '00000000', call('HMGET', KEYS[2], 'm', 'adopted')\n"
    "local live = not own[1] or own[1] == ARGV[2] and own[2] == '1'\n" ADD;

/* Adds keys to Redisson's bits. Its hash must have size ARGV[1] and hashIterations ARGV[2]. */
const char bf_script_add_redisson[] =
    "local own = call('HMGET', KEYS[2], 'size', 'hashIterations')\n"
    "local live = own[1] == ARGV[1] and own[2] == ARGV[2]\n"
    "local m = own[1] and own[2] and '00000002' or '00000000'\n" ADD;

/* Removes keys: decrements their counters. ARGV as for adding; a byte of ARGV[5] is 1, or 0 for
 * the repetition of a position. Returns 1 or 0 for each key, or -1 and the present mark. */
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
         "return out";

/* Adopts a bitmap of another system. ARGV[1] is the mark's offset, ARGV[2] the number of bytes
 * of m, ARGV[3] the maximum number of bytes that one step adds, ARGV[4] the mark in K:meta or
 * '', ARGV[5] the mark as bytes. The other arguments are for K:meta. Returns 2 if it has only
 * lengthened the string by a step; then it must run again. */
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
