<?php

/**
 * The PHP reference of the extension, and the source of bloomfilter_arginfo.h (scripts/gen-arginfo).
 *
 * @generate-class-entries
 */

/**
 * A Bloom filter: a set that answers "surely not in it" or "probably in it".
 *
 *     $seen = new BloomFilter(n: 1_000_000, p: 0.01);
 *     if ($seen->add($url)) { ... }                  // true: surely new
 *     $fresh = $seen->addNew($urls);                 // the ones of a batch that were new
 *
 * Letters: m = bits, n = keys it is sized for, k = positions per key, p = rate of false positives at n keys.
 *
 * Keys are bytes: a string as it is, an int as its decimal text (42 and "42" are one key), a Stringable object as its
 * text. The empty string is a key, and NUL bytes belong to the key. A bool, float, null or array is a TypeError: 1.0
 * and true would silently be other keys than meant.
 *
 * A batch that refuses a key says which one: the exception has its array key, or its number in an iterator, as $e->index.
 *
 * Exceptions: ValueError for an argument out of range (the message holds the value), TypeError for one of the wrong
 * type, BloomFilterException for the rest: no memory, I/O, damaged bytes, a closed filter.
 *
 * The bits live outside PHP's memory_limit, on malloc. `==` compares two filters as equals() does, so in_array()
 * and PHPUnit's assertEquals() tell filters apart; filters of different classes are never equal.
 *
 * Mapped files. `storage: '/var/lib/app/seen.bloom'` keeps the bits in a file that any number of processes, PHP or not, use
 * at once:
 *
 *     $seen = new BloomFilter(n: 1_000_000, p: 0.01, storage: $path);     // opens it; makes it where there is none
 *     $seen = BloomFilter::open($path);                                   // opens it; an exception where there is none
 *
 * - A relative path starts at PHP's working directory, getcwd(); open_basedir is respected. A file that exists with other
 *   parameters is an exception that names both, and stays as it is.
 * - An add is visible to all others at once, and survives the death of any process, kill -9 included. Only what sync()
 *   returned for survives a power loss. The room on disk is taken when the file is made: a full disk is an exception there
 *   and not a surprise later.
 * - A worker of PHP-FPM keeps its files open from request to request, so that opening one again costs microseconds: at most
 *   `bloomfilter.max_maps` of them (php.ini, 64 by default, 0: none), the least recently used goes first. All objects on a
 *   file share what is open; close() ends the object's use of it and not the worker's.
 * - Replace a filter by renaming another file over it, which save() does: what is opened from then on is the new file,
 *   objects made before keep the old one. Do not write into a filter's file in any other way, such as by cp: those who
 *   have it open would not notice. A worker gives the room of a deleted or replaced file back when it opens the path again,
 *   drops it as least recently used, or ends.
 * - A file that somebody cut short is an exception at the next opening, sync() or call on more than one key. add() and
 *   exists() of a single key do not pay for that check: they end the process by SIGBUS if they touch a page that is gone.
 * - A file that may not be written (its rights, or a read-only file system) is opened for reading: add() is an exception.
 *   Rights are looked at when a file is opened, as always in Unix: a worker that has it open keeps the rights it had.
 * - clone, union() and intersect() give filters in memory.
 *
 * Your own code may run in the middle of a call: a clock, a hash function, a method of your subclass of phpredis, and a Fiber that waits in one
 * of them. Until that call returns, the filter and the other operand are in use: other calls on them, close() included, are a
 * BloomFilterException with code BUSY. Other filters can be used. Generators and __toString() of keys run between calls: they may
 * use the filter; if they close it, the batch ends with an exception.
 *
 * Redis. `storage: 'redis://[user:password@]host:6379/0?key=NAME'` or `'unix:///path/to/socket?key=NAME'` keeps the bits in a
 * string of Redis that any number of machines use at once; docs/redis.md has
 * the URL and what is promised:
 *
 *     $seen = new BloomFilter(n: 1_000_000, p: 0.01, storage: 'redis://127.0.0.1/0?key=seen');
 *
 * - addMany(), existMany() and addNew() make one round trip for every 1000 keys.
 * - A key that Redis lost (deleted, expired, evicted, flushed) is an exception and never "absent". An add whose answer was
 *   lost is never repeated: the exception says that it is not known whether it was made.
 * - Connections are kept as files are, under `bloomfilter.max_maps`, where the name is in the URL: opening a filter again is
 *   one trip. Objects with the same URL share a connection; a process that was forked makes its own.
 * - A phpredis object that you already have, Redis or RedisCluster, with `key: NAME`, uses its connection, login and TLS; its
 *   OPT_PREFIX comes before the key, its serializer is not used, and it must not be in a pipeline or transaction. Such a
 *   filter cannot be serialized. An exception of phpredis is the previous one of ours.
 * - open_basedir holds for the socket of a unix:// URL. Messages, dumps and our arguments in stack traces show no password,
 *   but the text of serialize() holds the URL with it.
 *
 * @strict-properties
 */
class BloomFilter implements Countable
{
    /** Bits, 1 to 2^40. The block schemes round up to whole lines of 512. Of a filter that grows: all its parts' now. */
    public readonly int $m;

    /** Keys the filter is sized for. More may be added; the rate of false positives grows then, see fpr(). */
    public readonly int $n;

    /** Positions per key. */
    public readonly int $k;

    /** Rate of false positives at n keys: as asked for, or the scheme's formula. */
    public readonly float $p;

    /** How a key becomes positions: "classic", "block", "block2". */
    public readonly string $scheme;

    /**
     * The bits now: ceil(m / 8) bytes, bit i in byte i/8 under the mask 0x80 >> (i % 8), as Redis has them. Copied at
     * every read into a PHP string, and never part of var_dump(), var_export() or json_encode().
     */
    public readonly string $bitset;

    /** Factor it grows by; null where it does not grow. As $bitset never part of a dump, nor are the next two. */
    public readonly ?float $grow;

    /** Seconds it remembers a key at least; null where it does not forget. */
    public readonly ?float $window;

    /** Steps a window is forgotten in; null where it does not forget. */
    public readonly ?int $parts;

    /**
     * Whether this constructor just made it, so that it is to be filled. False where it was there before (open, load, fromBytes),
     * and of clones and unions. Of a filter that the worker keeps open only the first constructor says true.
     */
    public readonly bool $created;

    /**
     * Give any of these: m and n (then k = ceil(m/n ln 2)); n and p; m and k; m and p. k may join each of them. With
     * storage alone, what is stored there is opened.
     *
     * @param int|float|null $m       bits, 1 to 2^40
     * @param int|float|null $n       keys, 1 to 2^63 - 1
     * @param int|float|null $k       positions per key, 1 to 4096, or the scheme's own limit
     * @param float|null     $p       rate of false positives at n keys, above 0 and below 1
     * @param string|null    $scheme  "classic" is the default for (m,n) and (m,k); for (n,p) it is "block" where
     *                                p >= 0.001, else "block2"
     * @param string|null    $secret  16 bytes, e.g. random_bytes(16): positions nobody can foresee without them, for
     *                                keys that strangers choose. It is never stored
     * @param string|object|null $storage path of a file that all processes of the machine may share, URL of a Redis, or a
     *                                phpredis object, Redis or RedisCluster (see above); null: process memory
     * @param string|null    $key     name inside the storage, where it has names
     * @param float|null     $grow    1 to 1024: the filter grows past n by this factor and keeps p (docs/growing.md)
     * @param float|null     $window  seconds a key is remembered at least, counted from when it was added last; n is then
     *                                the number of keys in a window
     * @param int|null       $shards  equal slices, 1 to 4096, all bits of a key in one; in Redis each is a key of its own. null:
     *                                1, in Redis as many as m needs
     * @param int|null       $parts   of a window: how finely it forgets; a key is gone at the latest after
     *                                window * (1 + 1/parts); 4 by default
     * @param float|null     $timeout seconds a trip to Redis may take, 0.001 to 86400; it overrides the URL's
     * @param float|null     $retryAfter  Redis: seconds for which calls fail immediately after the server did not answer
     *                                in time; then one call tries. null: 1, 0: each call tries; it overrides the URL's
     * @param bool           $cache   Redis: keys known to be present need no trip. Takes up to m / 8 bytes of memory
     * @param float|null     $cacheMaxAge  seconds after which the bits must be seen again before the cache answers; null: 1.
     *                                For that long, a filter that others cleared or deleted may seem unchanged
     * @param int|null       $waitReplicas Redis: an add returns when so many replicas have it; BloomFilterException where
     *                                too few have it in time, though it is added then
     * @param bool           $adopt   Redis: another system's bitmap becomes a filter of ours too, and that system goes on using it;
     *                                give scheme and what it leaves open of m and k
     * @param bool           $exclusive mapped files: this object is the file's only writer until it is closed: adds take as long as
     *                                in memory. BloomFilterException (BUSY) while others write to the file; they get the same while
     *                                this object is open
     * @param string|null    $overfull once the filter holds more keys than n and more than half of its bits are set: "warn",
     *                                one E_USER_WARNING (null: so too, unless bloomfilter.warn=0); "raise": adds of keys are
     *                                BloomFilterException (FULL) until it is cleared, rebuilt or grown; "ignore": nothing
     * @param callable|null  $clock   with window: called without arguments for seconds since the epoch, as int or float; the
     *                                system's clock by default
     * @param array|null     $hashes  1 to 16 hash functions of your own, each takes a key (string) and returns an int from 0 on;
     *                                k is their number. Slow: a microsecond or more per key and function. Whoever opens the filter
     *                                passes them again; others are refused
     *
     * @throws ValueError           an argument is out of range, or they do not suffice
     * @throws BloomFilterException memory cannot hold it, or the storage does not fit
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
        ?float $window = null,
        ?int $shards = null,
        ?int $parts = null,
        ?float $timeout = null,
        ?float $retryAfter = null,
        bool $cache = false,
        ?float $cacheMaxAge = null,
        ?int $waitReplicas = null,
        bool $adopt = false,
        bool $exclusive = false,
        ?string $overfull = null,
        ?callable $clock = null,
        ?array $hashes = null
    ) {}

    /**
     * 16 random bytes from the kernel, for $secret. Keep them: a keyed filter opens with its own secret only.
     *
     * @throws BloomFilterException the kernel has none
     */
    public static function randomSecret(): string {}

    /**
     * What the constructor would make of the same arguments, without making it.
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
        ?float $window = null,
        ?int $shards = null,
        ?int $parts = null,
        ?float $timeout = null,
        ?float $retryAfter = null,
        bool $cache = false,
        ?float $cacheMaxAge = null,
        ?int $waitReplicas = null,
        bool $adopt = false,
        bool $exclusive = false,
        ?string $overfull = null,
        ?callable $clock = null,
        ?array $hashes = null
    ): array {}

    /**
     * Opens what exists and stays bound to it: what is added is in the file. In a warm worker this costs about as much as
     * one stat(). As all factories it returns the called class and does not call its constructor.
     *
     * What else is given must be the filter's own. A bitmap in Redis that another system made says nothing of itself: then
     * scheme, m and k must be given (where the scheme does not fix them), see docs/migrate.md.
     *
     * @param string|object $storage path of a filter's file, URL of a Redis, or phpredis object
     * @param string|null $secret   the secret of a keyed filter
     * @param string|null $key      name inside the storage, where it has names
     * @param bool        $readOnly refuse to add
     *
     * @throws BloomFilterException there is none, it is damaged, or the secret is another
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
        ?float $window = null,
        ?int $shards = null,
        ?int $parts = null,
        ?float $timeout = null,
        ?float $retryAfter = null,
        bool $cache = false,
        ?float $cacheMaxAge = null,
        ?int $waitReplicas = null,
        bool $adopt = false,
        bool $exclusive = false,
        ?string $overfull = null,
        ?callable $clock = null,
        ?array $hashes = null
    ): static {}

    /**
     * Adds a key. True: at least one bit changed, so the key is surely NEW. False: it was probably added before
     * (false positive with probability p). Other libraries answer the other way round.
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
     * False: the key was surely never added. True: it probably was.
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
     * The key's k positions, each 0 to m - 1, in the scheme's order. A position may occur twice.
     *
     * @return array<int, int>
     */
    public function hashcode(Stringable|string|int $key): array {}

    /**
     * Adds all keys and returns how many were surely new. Several times as fast as add() in a loop.
     *
     * Generators and other Traversables are read some hundred keys at a time, never as a whole. At a bad key (TypeError, its
     * array key or its position in the message) and at an exception of the generator or of a key's __toString() all
     * keys before it are added.
     */
    public function addMany(iterable $keys): int {}

    /**
     * exists() for each key: the answers under the array keys of $keys.
     *
     * @return array<int|string, bool>
     */
    public function existMany(array $keys): array {}

    /**
     * Adds all keys and returns those that were surely new, under their array keys.
     *
     * @return array<int|string, Stringable|string|int>
     */
    public function addNew(array $keys): array {}

    /**
     * A new filter in memory with the keys of both.
     *
     * @throws ValueError m, k, scheme or secret differ
     */
    public function union(BloomFilter $other): static {}

    /**
     * A new filter in memory with the bits both have: the keys of both sets, and a few more false positives than a
     * filter into which only those were added.
     *
     * @throws ValueError m, k, scheme or secret differ
     */
    public function intersect(BloomFilter $other): static {}

    /** True: same m, k, scheme and bits. */
    public function equals(BloomFilter $other): bool {}

    /**
     * True: all bits set here are set in the other (counters: none is above the other's). It is so where all keys are.
     *
     * @throws ValueError m, k, scheme or secret differ, or one counts and the other does not
     */
    public function isSubsetOf(BloomFilter $other): bool {}

    /**
     * Takes the keys of another filter in: union() in place. The counters of counting filters are added up.
     *
     * @throws ValueError m, k, scheme or secret differ, or one counts and the other does not
     */
    public function merge(BloomFilter $other): void {}

    /** Estimated number of different keys that a union would have, without making it. */
    public function unionCount(BloomFilter $other): int {}

    /** Estimated number of keys that both have: the two counts less unionCount(). */
    public function intersectionCount(BloomFilter $other): int {}

    /** Estimated number of different keys in it, from the bits set. */
    public function count(): int {}

    /** Bits set / m, 0 to 1. */
    public function fillRatio(): float {}

    /** The rate of false positives as the filter is now, 0 to 1. */
    public function fpr(): float {}

    /**
     * More than half of the bits are set: it holds as many keys as it was sized for, or more. Adding to such a filter is an
     * E_USER_WARNING as soon as it holds more than a tenth above n, once for each filter and process, unless `bloomfilter.warn`
     * (php.ini, ini_set) is 0; one in Redis is looked at once a minute.
     */
    public function saturated(): bool {}

    /**
     * What the filter is and what is in it. One pass over the bits. storage shows no password.
     *
     * @return array{m: int, n: int, k: int, p: float, scheme: string, home: string, storage: ?string, key: ?string,
     *     counting: bool, shards: int, parts: list<array>, grow: float, window: float, bytes: int, keyed: bool, readOnly: bool, ones: int, fillRatio: float, count: int, fpr: float, saturated: bool}
     */
    public function info(): array {}

    /**
     * Forgets all keys. In a file: what other processes add meanwhile may or may not survive, and one of their keys may for
     * a moment be there in part. Stop the writers, or save() an empty filter over the file.
     */
    public function clear(): void {}

    /**
     * The filter as bytes, its parameters and a checksum included: the format of save(), the same in every language.
     * As any PHP string it must fit into memory_limit; save() needs no such string.
     *
     * @param string|null $format as another system writes them: "guava", "bits" or "bits-lsb", see docs/migrate.md
     */
    public function toBytes(?string $format = null): string {}

    /**
     * A filter in memory from toBytes(). Parameters that are given must be those of the bytes; $overfull, which is not stored, is that
     * of the constructor.
     *
     * @param string|null $secret the secret of a keyed filter
     * @param string|null $format as another system wrote them: "guava", "bits", "bits-lsb" or "cells"; bare bits do not
     *                            say what set them, so scheme, m and k must be given: see docs/migrate.md
     *
     * @throws BloomFilterException truncated, too long, damaged, newer, not a filter, other parameters, or another secret
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

    /** What toBytes() returns, as base64 in one line: for JSON, a cookie, a column of text. */
    public function toBase64(): string {}

    /**
     * A filter in memory from toBase64(). White space is ignored; the other arguments are those of fromBytes().
     *
     * @throws BloomFilterException not base64, or what fromBytes() throws
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
     * Writes the filter to a file, by a temporary file and a rename: a reader never sees half of it. A stream, or a path with a
     * stream wrapper (`php://memory`, `compress.zlib://seen.bloom.gz`), gets the bytes of toBytes() from where it is; after
     * an exception some of them may be written. The stream stays open.
     *
     * @param string|resource $path
     *
     * @throws BloomFilterException it cannot be written, or not all of it
     */
    public function save($path): void {}

    /**
     * A filter in memory from a file that save() wrote. open() would stay bound to the file instead. A stream, or a path with a
     * stream wrapper, is read from where it is to its end. $overfull, which is not stored, is that of the constructor.
     *
     * @param string|resource $path
     * @param string|null     $secret the secret of a keyed filter
     */
    public static function load($path, #[\SensitiveParameter] ?string $secret = null, ?callable $clock = null, ?array $hashes = null, ?string $overfull = null): static {}

    /**
     * The parts of a filter that grows or forgets; one, where it does neither.
     *
     * @return list<array{firstBit: int, m: int, n: int, p: float, keys?: int, since?: ?float, until?: ?float}> keys: added to
     *         it (grow); since, until: when its keys were added at the earliest and are forgotten (window)
     */
    public function partInfo(): array {}

    /**
     * Returns once everything added before, by whomever, is on disk and survives a power loss. In memory: at once.
     *
     * @throws BloomFilterException it cannot be written, or the file was cut short
     */
    public function sync(): void {}

    /**
     * Filters in Redis: gone for everybody after so many seconds; null = never.
     *
     * @throws ValueError           seconds is not above 0, or above 10^10
     * @throws BloomFilterException it is not in Redis, read-only or lost
     */
    public function expire(int|float|null $seconds): void {}

    /**
     * Make it hold these keys and no others, for everybody who uses it. Until all of them are read it is used as ever, and no
     * key that is in the old and in the new ones is ever absent. Needs m / 8 bytes of memory. Memory and files: keys that anybody
     * adds meanwhile are kept; it needs room for the bits once more (a file gets it behind its bits); whoever dies leaves the
     * old keys or the new ones. Redis: keys that others add meanwhile are kept only if they are among these; of a filter with
     * shards one shard after the other; the time to live stays.
     *
     * @return int how many of the keys were surely different ones
     *
     * @throws TypeError            as addMany(); nothing is changed then, as with any exception
     * @throws BloomFilterException it grows or forgets, is read-only or lost, or another process or handle rebuilds it
     */
    public function rebuild(iterable $keys): int {}

    /** Number of shards, equal slices of the bits; 1: the bits are not cut. */
    public function shards(): int {}

    /**
     * Filters in Redis: delete it there, for everybody. Whoever still uses it gets an exception; constructing it again with
     * its parameters makes a new one.
     *
     * @throws BloomFilterException it is not in Redis, read-only or lost
     */
    public function delete(): void {}

    /**
     * Releases memory or file. Twice is fine; anything but the properties m, n, k, p, scheme is an exception then. Other
     * objects on the same file are not touched.
     *
     * @throws BloomFilterException code BUSY: a call in the filter waits for its clock, hash function or client, whose code runs now
     */
    public function close(): void {}

    /**
     * A filter in memory is carried as its bytes, one on a file as the file's absolute path, one in Redis as its URL (with
     * its password) and key; it is opened again, read-only where it was open read-only. $overfull is carried where it was given.
     *
     * @throws BloomFilterException the filter is keyed: its secret is never stored
     */
    public function __serialize(): array {}

    /**
     * Bytes are always read. A file or Redis is opened only with the INI setting `bloomfilter.unserialize_storage=1` (default 0;
     * ini_set() may change it): otherwise whoever gives you a string would choose which file or server is opened.
     *
     * @throws BloomFilterException the data names a file or Redis, and the setting is 0
     */
    public function __unserialize(array $data): void {}
}

/**
 * A BloomFilter of 4-bit counters instead of bits: keys can be removed and counted. m = counters, four times the room.
 *
 *     $online = new CountingBloomFilter(n: 100_000, p: 0.01);
 *     $online->add($user);
 *     $online->remove($user);                        // true: it was there
 *
 * - A counter that reached 15 stays there for ever, so no removal ever makes another key absent.
 * - Remove only what was added: removing a false positive damages the keys that share its counters.
 * - bitset is the counters as they are: counter i is byte i/2, the high half for even i. fillRatio() is the share above 0.
 * - union() and merge() add counters up, intersect() takes the lesser. With plain filters there is neither: see toPlain().
 * - What was saved, serialized or stored as one class is opened as that class. docs/counting.md has what is promised.
 *
 * @strict-properties
 */
class CountingBloomFilter extends BloomFilter
{
    /**
     * Takes one add of the key back. True: it was there. False: it was absent, and nothing changed.
     *
     * @throws TypeError            the key is neither string, int nor Stringable
     * @throws BloomFilterException the filter is closed or cannot be written
     */
    public function remove(Stringable|string|int $key): bool {}

    /** Removes all keys and returns how many were there; of generators and bad keys what addMany() says. */
    public function removeMany(iterable $keys): int {}

    /** How often the key was added and not removed, at most. 0: surely absent; 15: 15 or more. */
    public function countOf(Stringable|string|int $key): int {}

    /** A BloomFilter in memory with the same keys, at a quarter of the size. */
    public function toPlain(): BloomFilter {}
}

/** Everything that is neither a wrong type nor a value out of range. getCode() is one of the constants. */
class BloomFilterException extends RuntimeException
{
    /**
     * Closed, or never constructed.
     *
     * @var int
     */
    const CLOSED = 0;

    /**
     * Memory cannot hold it.
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
     * Not a filter, or a damaged one.
     *
     * @var int
     */
    const FORMAT = -4;

    /**
     * A filter, but with other parameters or another secret.
     *
     * @var int
     */
    const MISMATCH = -5;

    /**
     * Not possible in this home, for this scheme, or in this build.
     *
     * @var int
     */
    const NOT_SUPPORTED = -6;

    /**
     * The filter or its file is in use: not now.
     *
     * @var int
     */
    const BUSY = -8;

    /**
     * There is no such file, or no such key in Redis.
     *
     * @var int
     */
    const NOT_FOUND = -9;

    /**
     * Redis lost the filter: its key was deleted, evicted, overwritten, or it expired.
     *
     * @var int
     */
    const LOST = -10;

    /**
     * With overfull: 'raise': the filter holds more keys than it is sized for. In a batch $e->index is the index of the first key
     * that is not added; the keys before it are.
     *
     * @var int
     */
    const FULL = -11;
}
