<?php

/**
 * The PHP reference of the extension, and the source of bloomfilter_arginfo.h (scripts/gen-arginfo).
 *
 * @generate-class-entries
 */

/**
 * A Bloom filter: a set of keys. A test of a key answers "surely not in the set" or "probably in the set".
 *
 *     $seen = new BloomFilter(n: 1_000_000, p: 0.01);
 *     if ($seen->add($url)) { ... }                  // true: surely new
 *     $fresh = $seen->addNew($urls);                 // the keys of a batch that were new
 *
 * Letters: m = bits, n = keys the filter is sized for, k = positions per key, p = rate of false positives at n keys.
 *
 * Keys are bytes: a string as it is, an int as its decimal text (42 and "42" are one key), a Stringable object as its
 * text. The empty string is a key, and NUL bytes belong to the key. A bool, float, null or array raises a TypeError,
 * because 1.0 or true is rarely the key that was meant.
 *
 * If a batch refuses a key, $e->index is the key's index in the array, or its number in the iterator.
 *
 * Exceptions: ValueError for an argument out of range (the message contains the value), TypeError for a wrong type,
 * BloomFilterException for all other errors: out of memory, I/O, damaged bytes, a closed filter.
 *
 * The bits are allocated with malloc, so memory_limit does not count them. `==` compares two filters as equals() does,
 * but filters of different classes are never equal. So in_array() and PHPUnit's assertEquals() compare filters correctly.
 *
 * Mapped files. `storage: '/var/lib/app/seen.bloom'` keeps the bits in a file that any number of processes, PHP or other,
 * use at the same time:
 *
 *     $seen = new BloomFilter(n: 1_000_000, p: 0.01, storage: $path);     // opens the file, or creates it
 *     $seen = BloomFilter::open($path);                                   // opens the file, or throws an exception
 *
 * - A relative path starts at PHP's working directory, getcwd(). open_basedir is respected. If the file exists with other
 *   parameters, the exception names both values, and the file does not change.
 * - An add is visible to all processes immediately, and survives the death of any process, including kill -9. Only adds
 *   before a sync() that returned survive a power loss. Creating a file, or a part of a growing filter, allocates the disk
 *   space: a full disk raises an exception there, not at a later add.
 * - A worker of PHP-FPM keeps its files open between requests, so opening one again costs microseconds. It keeps at most
 *   `bloomfilter.max_maps` files and Redis filters (php.ini, 64 by default, 0: none) and closes the least recently used
 *   first. All objects on a file share one mapping. close() closes the object, not the mapping of the worker.
 * - To replace a filter, rename another file over it, as save() does. Later openings use the new file. Existing objects
 *   test keys in the old file; batches of adds and sync() throw an exception. Do not overwrite a filter's file, for example
 *   with cp: access to a missing page ends a process that has the file open. A worker frees a replaced or deleted file when
 *   it opens the path again, closes the file as least recently used, or ends.
 * - If a file was truncated, the next opening, sync() or call with more than one key throws an exception. add() and
 *   exists() of one key do not check this: access to a missing page ends the process with SIGBUS.
 * - A file without write permission, or on a read-only file system, is opened for reading, and add() throws an exception.
 *   As usual in Unix, permissions are checked only when a file is opened: a worker that has the file open keeps its access.
 * - clone, union() and intersect() return filters in memory.
 *
 * Your code may run during a call: a clock, a hash function, a client of Predis, a subclass of phpredis, or a Fiber that waits in
 * one of these. Until the call returns, every other call on the same filters, including close(), throws a
 * BloomFilterException with code BUSY. Other filters can be used. Generators and __toString() of keys run between calls
 * of the library, so they may use the filter; if they close it, the batch ends with an exception.
 *
 * Redis. `storage: 'redis://[user:password@]host:6379/0?key=NAME'` or `'unix:///path/to/socket?key=NAME'` keeps the bits in a
 * string of Redis that any number of machines use at the same time. docs/redis.md describes the URL and the guarantees:
 *
 *     $seen = new BloomFilter(n: 1_000_000, p: 0.01, storage: 'redis://127.0.0.1/0?key=seen');
 *
 * - addMany(), existMany() and addNew() make one round trip for every 1000 keys.
 * - If Redis lost the filter (deleted, expired, evicted, flushed), calls throw an exception and never return "absent". An
 *   add whose reply was lost is never repeated: the exception reports that the result is unknown.
 * - Filters opened through a URL stay open between requests, like files: opening one again costs one round trip. Objects
 *   that are open at the same time have a connection each. A forked process opens its own connection.
 * - A phpredis object, Redis or RedisCluster, can be the storage, with `key: NAME`. The filter uses the object's connection,
 *   login, TLS and OPT_PREFIX, but not its serializer. The object must not be in a pipeline or transaction. Such a filter
 *   cannot be serialized. An exception of phpredis becomes the previous exception of a BloomFilterException.
 * - A Predis client (Predis\ClientInterface) can be the storage in the same way, with its option `prefix`. Its replication
 *   sends every command to the master.
 * - open_basedir applies to the socket of a unix:// URL. Messages, dumps and arguments in stack traces show no password,
 *   but the text of serialize() contains the URL with its password.
 *
 * @strict-properties
 */
class BloomFilter implements Countable, JsonSerializable
{
    /** Bits, 1 to 2^40. The block schemes round up to complete lines of 512 bits. Growing filter: bits of all parts now. */
    public readonly int $m;

    /** Keys the filter is sized for. If more keys are added, the rate of false positives rises, see fpr(). */
    public readonly int $n;

    /** Positions per key. */
    public readonly int $k;

    /** Rate of false positives at n keys: as given, or from the scheme's formula. */
    public readonly float $p;

    /** How a key becomes positions: "classic", "block", "block2". */
    public readonly string $scheme;

    /**
     * The bits now: ceil(m / 8) bytes in the order of Redis: bit i is in byte i/8 under the mask 0x80 >> (i % 8). Each read
     * copies them into a PHP string. var_dump(), var_export() and casts leave this property out.
     */
    public readonly string $bitset;

    /** Factor by which the filter grows, or null. Dumps do not show $grow, $window, $parts and $bitset. */
    public readonly ?float $grow;

    /** Minimum of seconds for which a forgetting filter remembers a key; null for other filters. */
    public readonly ?float $window;

    /** Number of steps in which a window is forgotten; null if the filter does not forget. */
    public readonly ?int $parts;

    /**
     * True if this constructor created the filter, which must now be filled. False if the filter existed before (open, load,
     * fromBytes), after a rebuild, and for clones and unions. If a worker keeps a filter open, only the first constructor gets true.
     */
    public readonly bool $created;

    /**
     * A number of seconds can also be a DateInterval without years and months, whose length varies.
     *
     * Sufficient arguments: m and n (then k = ceil(m/n ln 2)); n and p; m and k; m and p. k can be added to each pair.
     * With storage alone, the constructor opens the stored filter.
     *
     * @param int|float|null $m       bits, 1 to 2^40
     * @param int|float|null $n       keys, 1 to 2^63 - 1
     * @param int|float|null $k       positions per key, 1 to 4096, or the scheme's own limit
     * @param float|null     $p       rate of false positives at n keys, above 0 and below 1
     * @param string|null    $scheme  default for (m,n) and (m,k): "classic"; for (n,p): "block" if p >= 0.001, else
     *                                "block2"
     * @param string|null    $secret  16 bytes, e.g. random_bytes(16), for keys that strangers choose: without the secret
     *                                positions cannot be predicted. It is never stored
     * @param string|object|null $storage path of a file that processes of the machine can share, URL of a Redis server, or a
     *                                client object of phpredis or Predis (see above); null: process memory
     * @param string|null    $key     the filter's name in Redis, if the URL does not contain it
     * @param float|null     $grow    1 to 1024: the filter grows past n by this factor and keeps p (docs/growing.md)
     * @param float|DateInterval|null $window  minimum of seconds for which a key is remembered after its last add; n is then the
     *                                number of keys in a window
     * @param int|null       $shards  number of equal slices, 1 to 4096; all bits of a key are in one slice. In Redis each
     *                                slice has its own name. null: 1, in Redis as many as m needs
     * @param int|null       $parts   with window: number of steps in which it forgets, 4 by default; a key is forgotten
     *                                after window * (1 + 1/parts) seconds at the latest
     * @param float|DateInterval|null $timeout Redis: maximum of seconds for a round trip, 0.001 to 86400; overrides the URL
     * @param float|DateInterval|null $retryAfter  Redis: after a time-out, calls fail immediately for this many seconds, then one call
     *                                tries again. null: 1; 0: each call tries; overrides the URL
     * @param bool           $cache   Redis: keys known to be present need no round trip. Takes up to m / 8 bytes of memory
     * @param float|DateInterval|null $cacheMaxAge  maximum age of the cache in seconds; null: 1. For that time, a filter that another
     *                                process cleared or deleted may seem unchanged
     * @param int|null       $waitReplicas Redis: an add returns when this many replicas have the key. If too few have it in
     *                                time, the add throws BloomFilterException, but the key is added
     * @param bool           $adopt   Redis: makes another system's bitmap a filter of this library; the other system can continue
     *                                to use it. Give scheme, and m and k if the scheme does not fix them
     * @param bool           $exclusive mapped files: this object is the only writer until it is closed, and adds are as fast as
     *                                in memory. BloomFilterException (BUSY) if another process writes to the file; other
     *                                writers get the same exception while this object is open
     * @param string|null    $overfull what happens when the filter holds more keys than n. "warn": above 1.1 n one
     *                                E_USER_WARNING, before a call adds anything; "raise": the filter takes n keys, then new
     *                                keys throw BloomFilterException (FULL); "ignore": nothing. null: as "warn", but not if
     *                                bloomfilter.warn=0
     * @param callable|null  $clock   with window: a function without arguments that returns seconds since 1970 as int or
     *                                float; null: the system's clock
     * @param array|null     $hashes  1 to 16 hash functions; each takes a key (string) and returns an int of at least 0. k is
     *                                their number. Slow: a microsecond or more per key and function. Opening the filter
     *                                requires the same functions
     *
     * @throws ValueError           an argument is out of range, or the arguments do not suffice
     * @throws BloomFilterException out of memory, or the storage contains something else
     */
    public function __construct(
        int|float|null $m = null,
        int|float|null $n = null,
        int|float|null $k = null,
        ?float $p = null,
        ?string $scheme = null,
        #[\SensitiveParameter] ?string $secret = null,
        #[\SensitiveParameter] string|object|null $storage = null,
        ?string $key = null,
        ?float $grow = null,
        float|DateInterval|null $window = null,
        ?int $shards = null,
        ?int $parts = null,
        float|DateInterval|null $timeout = null,
        float|DateInterval|null $retryAfter = null,
        bool $cache = false,
        float|DateInterval|null $cacheMaxAge = null,
        ?int $waitReplicas = null,
        bool $adopt = false,
        bool $exclusive = false,
        ?string $overfull = null,
        ?callable $clock = null,
        ?array $hashes = null
    ) {}

    /**
     * Returns 16 random bytes from the kernel, for $secret. Keep them: a keyed filter can be opened only with its secret.
     *
     * @throws BloomFilterException the kernel provides no random bytes
     */
    public static function randomSecret(): string {}

    /**
     * Returns the parameters that the constructor would use with these arguments; creates nothing.
     *
     * @return array{m: int, n: int, k: int, p: float, scheme: string}
     *
     * @throws ValueError
     */
    public static function plan(
        int|float|null $m = null,
        int|float|null $n = null,
        int|float|null $k = null,
        ?float $p = null,
        ?string $scheme = null,
        #[\SensitiveParameter] ?string $secret = null,
        #[\SensitiveParameter] string|object|null $storage = null,
        ?string $key = null,
        ?float $grow = null,
        float|DateInterval|null $window = null,
        ?int $shards = null,
        ?int $parts = null,
        float|DateInterval|null $timeout = null,
        float|DateInterval|null $retryAfter = null,
        bool $cache = false,
        float|DateInterval|null $cacheMaxAge = null,
        ?int $waitReplicas = null,
        bool $adopt = false,
        bool $exclusive = false,
        ?string $overfull = null,
        ?callable $clock = null,
        ?array $hashes = null
    ): array {}

    /**
     * Opens an existing filter. Adds change the stored filter. If the worker has the file open, this costs about one
     * stat(). Like all factories, returns an object of the called class without calling its constructor.
     *
     * Other arguments must match the filter. Another system's bitmap in Redis contains no parameters: give scheme, and m and
     * k if the scheme does not fix them; see docs/migrate.md.
     *
     * @param string|object $storage path of a filter's file, URL of a Redis server, or client object of phpredis or Predis
     * @param string|null $secret   the secret of a keyed filter
     * @param string|null $key      the filter's name in Redis, if the URL does not contain it
     * @param bool        $readOnly true: the filter cannot be changed
     *
     * @throws BloomFilterException the filter does not exist, is damaged, or has another secret
     */
    public static function open(
        #[\SensitiveParameter] string|object $storage,
        #[\SensitiveParameter] ?string $secret = null,
        ?string $key = null,
        bool $readOnly = false,
        int|float|null $m = null,
        int|float|null $n = null,
        int|float|null $k = null,
        ?float $p = null,
        ?string $scheme = null,
        ?float $grow = null,
        float|DateInterval|null $window = null,
        ?int $shards = null,
        ?int $parts = null,
        float|DateInterval|null $timeout = null,
        float|DateInterval|null $retryAfter = null,
        bool $cache = false,
        float|DateInterval|null $cacheMaxAge = null,
        ?int $waitReplicas = null,
        bool $adopt = false,
        bool $exclusive = false,
        ?string $overfull = null,
        ?callable $clock = null,
        ?array $hashes = null
    ): static {}

    /**
     * Adds a key. True: at least one bit changed, so the key is surely NEW. False: the key was probably added before
     * (false positive with probability p). Some other libraries return the opposite.
     *
     * @throws TypeError            the key is neither string, int nor Stringable
     * @throws BloomFilterException the filter is closed or cannot be written
     */
    public function add(Stringable|string|int $key): bool {}

    /**
     * The same as add(), under its classic name.
     *
     * @implementation-alias BloomFilter::add
     */
    public function addKey(Stringable|string|int $key): bool {}

    /**
     * Tests a key. False: the key was surely never added. True: it was probably added.
     *
     * @throws TypeError            the key is neither string, int nor Stringable
     * @throws BloomFilterException the filter is closed
     */
    public function exists(Stringable|string|int $key): bool {}

    /**
     * The same as exists(), under its classic name.
     *
     * @implementation-alias BloomFilter::exists
     */
    public function existKey(Stringable|string|int $key): bool {}

    /**
     * Returns the key's k positions, each 0 to m - 1, in the scheme's order. A position may occur twice.
     *
     * @return array<int, int>
     */
    public function hashcode(Stringable|string|int $key): array {}

    /**
     * Adds all keys and returns how many were surely new. Several times as fast as add() in a loop.
     *
     * Generators and other Traversables are read in batches of at most 1000 keys, never completely. If a key has a wrong
     * type, or the generator or a key's __toString() throws, the keys before it are added. The TypeError names the key's
     * index.
     */
    public function addMany(iterable $keys): int {}

    /**
     * Tests each key as exists() does. The results have the array keys of $keys.
     *
     * @return array<int|string, bool>
     */
    public function existMany(array $keys): array {}

    /**
     * Adds keys that are hashed already, to a filter of scheme "hashes64"; returns how many were surely new.
     *
     * A hash is 8 bytes, the integer in little-endian order (pack('P*', ...$numbers)), uniform as those of XXH3 or BLAKE2b.
     * It selects the bits itself. Such a filter takes hashes only; other filters take none.
     *
     * @throws ValueError the filter takes keys, or the string has a part of a hash
     */
    public function addHashes(string $hashes): int {}

    /**
     * Tests each hash, see addHashes().
     *
     * @return array<int, bool>
     */
    public function existHashes(string $hashes): array {}

    /**
     * Adds all keys and returns the surely new ones, under their array keys.
     *
     * @return array<int|string, Stringable|string|int>
     */
    public function addNew(array $keys): array {}

    /**
     * Returns a new filter in memory with the keys of both filters.
     *
     * @throws ValueError m, k, scheme or secret differ
     */
    public function union(BloomFilter $other): static {}

    /**
     * Returns a new filter in memory with the bits that are set in both filters. It contains the keys that
     * are in both filters, and has a few more false positives than a filter of only these keys.
     *
     * @throws ValueError m, k, scheme or secret differ
     */
    public function intersect(BloomFilter $other): static {}

    /** True if m, k, scheme and bits are equal. */
    public function equals(BloomFilter $other): bool {}

    /**
     * True if each bit set in this filter is set in the other (counters: no counter is above the other's). This is the case
     * if the other filter contains all keys of this one.
     *
     * @throws ValueError m, k, scheme or secret differ, or only one of them counts
     */
    public function isSubsetOf(BloomFilter $other): bool {}

    /**
     * Adds the keys of another filter to this one. Counters are added up.
     *
     * @throws ValueError m, k, scheme or secret differ, or only one of them counts
     */
    public function merge(BloomFilter $other): void {}

    /** Estimates the number of different keys in the union of both filters, without creating it. */
    public function unionCount(BloomFilter $other): int {}

    /** Estimates the number of keys that both filters contain: the two counts minus unionCount(). */
    public function intersectionCount(BloomFilter $other): int {}

    /** Estimates the number of different keys from the number of set bits. */
    public function count(): int {}

    /** Fraction of the bits that are set, 0 to 1. */
    public function fillRatio(): float {}

    /** The rate of false positives at the present fill, 0 to 1. */
    public function fpr(): float {}

    /**
     * True if more than half of the bits are set: the filter holds about n keys or more. If it holds more than a tenth above
     * n, an add raises an E_USER_WARNING before it adds anything, once per filter and process, unless `bloomfilter.warn`
     * (php.ini, ini_set) is 0. In a file and in Redis, each process checks again after n / 64 new keys.
     */
    public function saturated(): bool {}

    /**
     * Returns parameters and contents. Takes one pass over the bits. storage contains no password.
     *
     * @return array{m: int, n: int, k: int, p: float, scheme: string, home: string, storage: ?string, key: ?string,
     *     counting: bool, shards: int, parts: list<array>, grow: float, window: float, bytes: int, keyed: bool, readOnly: bool, ones: int, fillRatio: float, count: int, fpr: float, saturated: bool}
     */
    public function info(): array {}

    /**
     * Removes all keys. If another process adds a key to a file at the same time, all, some or none of the key's bits may
     * remain. Stop the writers, or save() an empty filter over the file.
     */
    public function clear(): void {}

    /**
     * Returns the filter as bytes, with its parameters and a checksum: the format of save(), the same in every language.
     * The string must fit into memory_limit; save() needs no string.
     *
     * @param string|null $format another system's format: "guava", "redisbloom", "bits" or "bits-lsb", see docs/migrate.md
     */
    public function toBytes(?string $format = null): string {}

    /**
     * Returns a filter in memory from the bytes of toBytes(). Given parameters must match those in the bytes.
     * $overfull works as in the constructor: it is not stored.
     *
     * @param string|null $secret the secret of a keyed filter
     * @param string|null $format another system's format: "guava", "redisbloom", "bits", "bits-lsb" or "cells". Formats without parameters
     *                            need scheme, m and k: see docs/migrate.md
     *
     * @throws BloomFilterException truncated, too long, damaged, newer, not a filter, other parameters, or wrong secret
     */
    public static function fromBytes(
        string $bytes,
        #[\SensitiveParameter] ?string $secret = null,
        ?string $format = null,
        int|float|null $m = null,
        int|float|null $n = null,
        int|float|null $k = null,
        ?float $p = null,
        ?string $scheme = null,
        ?callable $clock = null,
        ?array $hashes = null,
        ?string $overfull = null,
    ): static {}

    /**
     * Creates a filter of the module RedisBloom (BF.*) with these contents, by BF.LOADCHUNK: under a temporary name, then it gets
     * its name in one step. The filter must be of scheme "redisbloom"; with grow it is a scaling one.
     *
     * @param string|\Redis|\RedisCluster|\Predis\ClientInterface $storage the URL of the server, or a client
     * @param string|null $key the name of the filter, if the URL has none
     *
     * @throws BloomFilterException the name is in use, the filter is of another scheme, or the server lacks the module
     */
    public function toRedisBloom(#[\SensitiveParameter] string|object $storage, ?string $key = null): void {}

    /**
     * Returns a filter in memory with the contents of a filter of the module RedisBloom (BF.*), by BF.SCANDUMP. If
     * a key is added to it during the call, that is an error. Arguments: see toRedisBloom().
     *
     * @throws BloomFilterException there is no such filter, it is of an older version, or it was changed during the call
     */
    public static function fromRedisBloom(#[\SensitiveParameter] string|object $storage, ?string $key = null): static {}

    /** Returns toBytes() as base64 in one line, for example for JSON, a cookie or a text column. */
    public function toBase64(): string {}

    /**
     * Returns a filter in memory from the text of toBase64(). Ignores white space. Other arguments: see fromBytes().
     *
     * @throws BloomFilterException the text is not base64, or fromBytes() would throw
     */
    public static function fromBase64(
        string $text,
        #[\SensitiveParameter] ?string $secret = null,
        ?string $format = null,
        int|float|null $m = null,
        int|float|null $n = null,
        int|float|null $k = null,
        ?float $p = null,
        ?string $scheme = null,
        ?callable $clock = null,
        ?array $hashes = null,
        ?string $overfull = null,
    ): static {}

    /**
     * Returns what json_encode($filter) encodes: `{"bloomfilter": "text of toBase64()"}`. fromJson() reads it.
     *
     * @return array{bloomfilter: string}
     *
     * @throws BloomFilterException the filter is in a file or in Redis (encode a copy: json_encode(clone $filter)), or is
     *                              keyed: its secret is never stored
     *
     * @tentative-return-type
     */
    public function jsonSerialize(): mixed {}

    /**
     * Returns a filter in memory from the JSON of json_encode($filter), or from its decoded array. Other members of the
     * object are ignored. $overfull works as in the constructor: it is not stored.
     *
     * @throws BloomFilterException the text is not JSON of a filter, or fromBase64() would throw
     */
    public static function fromJson(string|array $json, ?callable $clock = null, ?array $hashes = null, ?string $overfull = null): static {}

    /**
     * Writes the filter to a temporary file and renames it, so that no process reads an incomplete file. If $path is a stream,
     * or a path with a stream wrapper (`php://memory`, `compress.zlib://seen.bloom.gz`), writes the bytes of toBytes() at the
     * present position of the stream; after an exception some of these bytes may be written. The stream stays open.
     * If $path is a Redis URL (`redis://host/0?key=seen`), creates a filter in Redis with these contents, in one step (with
     * shards, one shard after the other). In contrast to a file, an existing filter is not replaced.
     *
     * @param string|resource $path
     *
     * @throws BloomFilterException the filter cannot be written completely, or exists in Redis
     */
    public function save(#[\SensitiveParameter] $path): void {}

    /**
     * Reads a file of save() into memory. In contrast to open(), later adds do not change the file. Of a stream, exactly one
     * filter is read from the present position: other filters or data may follow. A path, also with a stream wrapper, must
     * hold nothing else. A Redis URL: the filter is copied into memory. $overfull works as in the constructor: it is not
     * stored.
     *
     * @param string|resource $path
     * @param string|null     $secret the secret of a keyed filter
     */
    public static function load(#[\SensitiveParameter] $path, #[\SensitiveParameter] ?string $secret = null, ?callable $clock = null, ?array $hashes = null, ?string $overfull = null): static {}

    /**
     * Returns the parts of a growing or forgetting filter; for other filters one part.
     *
     * @return list<array{firstBit: int, m: int, n: int, p: float, keys?: int, since?: ?float, until?: ?float}> keys: number of
     *         keys in the part (grow); since: earliest add of its keys, until: when they are forgotten (window)
     */
    public function partInfo(): array {}

    /**
     * True if the name by which the filter was opened still belongs to it, and for filters in memory. False if its file was
     * replaced (as save() and docs/howto-rebuild.md do) or deleted, or its key in Redis deleted: open the filter again. Takes
     * a look at the file's name, or one round trip.
     *
     * @throws BloomFilterException Redis cannot be asked
     */
    public function isCurrent(): bool {}

    /**
     * Returns when all earlier adds of all processes are on disk and survive a power loss. In memory: does nothing.
     *
     * @throws BloomFilterException the file cannot be written, or was truncated
     */
    public function sync(): void {}

    /**
     * For a filter in Redis: Redis deletes it after this many seconds, or this DateInterval; null: never.
     *
     * @throws ValueError           seconds is not above 0, or above 10^10
     * @throws BloomFilterException the filter is not in Redis, is read-only or lost
     */
    public function expire(float|DateInterval|null $seconds): void {}

    /**
     * Replaces the contents by these keys, for all users of the filter. The filter can be used during the call, and a key that is
     * in the old and in the new contents is never absent. Needs m / 8 bytes of memory.
     *
     * Memory and files: keys that any process adds during the call are kept. The rebuild needs space for a second bitmap; in a file
     * the second bitmap follows the first. If the process dies, the filter contains either the old or the new keys.
     *
     * Redis: keys that other processes add during the call are kept only if $keys contains them. The shards of a filter are
     * replaced one after the other. The time to live is kept.
     *
     * @return int how many of the keys were surely different
     *
     * @throws TypeError            a key has a wrong type. After any exception the filter is unchanged
     * @throws BloomFilterException the filter forgets or grows outside of Redis, is read-only or lost, or another process or handle rebuilds it
     */
    public function rebuild(iterable $keys): int {}

    /** Returns the number of shards, equal slices of the bits; 1: not sharded. */
    public function shards(): int {}

    /**
     * Deletes a filter in Redis, for all users. Other objects that use it get an exception. Constructing it again with its
     * parameters creates a new filter.
     *
     * @throws BloomFilterException the filter is not in Redis, is read-only or lost
     */
    public function delete(): void {}

    /**
     * Releases the memory or file. A second call does nothing. After close(), only the properties m, n, k, p and scheme can be
     * used. Other objects on the same file stay open.
     *
     * @throws BloomFilterException code BUSY: called from a clock, hash function or client that runs in a call of this filter
     */
    public function close(): void {}

    /**
     * A filter in memory is serialized as its bytes, a mapped file as its absolute path, a filter in Redis as its URL (with
     * its password) and key. unserialize() opens the storage again, read-only if it was open read-only.
     * The data contains $overfull if it was given.
     *
     * @throws BloomFilterException the filter is keyed: its secret is never stored
     */
    public function __serialize(): array {}

    /**
     * Bytes are always read. A file or Redis is opened only with the INI setting `bloomfilter.unserialize_storage=1` (default
     * 0; ini_set() can change it). Otherwise a string from outside could choose which file or server is opened.
     *
     * @throws BloomFilterException the data names a file or Redis, and the setting is 0
     */
    public function __unserialize(array $data): void {}
}

/**
 * A BloomFilter of 4-bit counters instead of bits: keys can be removed and counted. m is the number of counters, which take
 * four times the space of bits.
 *
 *     $online = new CountingBloomFilter(n: 100_000, p: 0.01);
 *     $online->add($user);
 *     $online->remove($user);                        // true: it was there
 *
 * - A counter that reached 15 never changes again, so the removal of an added key never makes another key absent.
 * - Remove only keys that were added: removing a false positive decrements counters of other keys.
 * - bitset contains the counters: counter i is in byte i/2, in the high half if i is even. fillRatio() is the fraction of
 *   counters above 0.
 * - union() and merge() add counters, intersect() takes the smaller one. The other filter must be counting, too: see toPlain().
 * - A saved, serialized or stored filter can be opened only as the same class. docs/counting.md has the guarantees.
 *
 * @strict-properties
 */
class CountingBloomFilter extends BloomFilter
{
    /**
     * Undoes one add of the key. True: the key was present. False: it was absent, and nothing changed.
     *
     * @throws TypeError            the key is neither string, int nor Stringable
     * @throws BloomFilterException the filter is closed or cannot be written
     */
    public function remove(Stringable|string|int $key): bool {}

    /** Removes all keys and returns how many were present. Handles generators and bad keys as addMany() does. */
    public function removeMany(iterable $keys): int {}

    /** Returns an upper bound for the adds minus the removals of the key. 0: surely absent; 15: 15 or more. */
    public function countOf(Stringable|string|int $key): int {}

    /** Returns a BloomFilter in memory with the same keys, a quarter of the size. */
    public function toPlain(): BloomFilter {}
}

/** All errors except a wrong type and a value out of range. getCode() returns one of the constants. */
class BloomFilterException extends RuntimeException
{
    /**
     * The filter is closed, or was never constructed.
     *
     * @var int
     */
    const CLOSED = 0;

    /**
     * Out of memory.
     *
     * @var int
     */
    const NO_MEMORY = -2;

    /**
     * A file cannot be read or written, or Redis cannot be reached.
     *
     * @var int
     */
    const IO = -3;

    /**
     * The data is not a filter, or is damaged.
     *
     * @var int
     */
    const FORMAT = -4;

    /**
     * The filter has other parameters or another secret.
     *
     * @var int
     */
    const MISMATCH = -5;

    /**
     * Not supported by this storage, scheme or build.
     *
     * @var int
     */
    const NOT_SUPPORTED = -6;

    /**
     * The filter or its file is in use: try again later.
     *
     * @var int
     */
    const BUSY = -8;

    /**
     * The file, or the key in Redis, does not exist.
     *
     * @var int
     */
    const NOT_FOUND = -9;

    /**
     * Redis lost the filter: its key was deleted, evicted or overwritten, or expired, or the filter was re-created.
     *
     * @var int
     */
    const LOST = -10;

    /**
     * The filter has no room for a new key: overfull: 'raise' and it holds n keys, or it cannot grow any more. In a batch,
     * $e->index is the index of the first key that was not added; the keys before it were added.
     *
     * @var int
     */
    const FULL = -11;
}
