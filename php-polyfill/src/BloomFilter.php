<?php

use Bloomfilter\Polyfill\{Capacity, Fault, File, Filter, Foreign, Image, Keys, Opening, Params, Part, Sets, Signals, Spec, State, Stream};

/**
 * The extension's class in PHP.  Its reference is php-ext/bloomfilter.stub.php; what differs is docs/php-without-extension.md.
 * A method checks and converts its arguments and calls src/ once.
 */
class BloomFilter implements Countable, JsonSerializable
{
    public readonly int $m;
    public readonly int $n;
    public readonly int $k;
    public readonly float $p;
    public readonly string $scheme;
    /** Read from the filter each time, by __get(). */
    public readonly string $bitset;
    public readonly ?float $grow;
    public readonly ?float $window;
    public readonly ?int $parts;
    public readonly bool $created;
    private ?Filter $filter = null;
    /** Those that their constructor made. */
    private static ?WeakMap $made = null;

    public function __construct(
        int|float|null $m = null, int|float|null $n = null, int|float|null $k = null, ?float $p = null, ?string $scheme = null,
        #[\SensitiveParameter] ?string $secret = null, #[\SensitiveParameter] string|object|null $storage = null, ?string $key = null,
        ?float $grow = null, float|DateInterval|null $window = null, ?int $shards = null, ?int $parts = null, float|DateInterval|null $timeout = null, float|DateInterval|null $retryAfter = null,
        bool $cache = false, float|DateInterval|null $cacheMaxAge = null, ?int $waitReplicas = null, bool $adopt = false, bool $exclusive = false, ?string $overfull = null,
        ?callable $clock = null, ?array $hashes = null
    ) {
        $given = get_defined_vars();
        Signals::held(function () use ($given) {
            $this->mustBeFresh();
            $spec = Spec::of($given, static::class, '__construct');
            $f = Opening::filter($spec);
            $this->install($f->withOverfull($spec->overfull, $spec->created));
            self::$made ??= new WeakMap;
            if ($spec->created) self::$made[$this] = true;
        });
    }

    public static function randomSecret(): string { return random_bytes(16); }

    public static function plan(
        int|float|null $m = null, int|float|null $n = null, int|float|null $k = null, ?float $p = null, ?string $scheme = null,
        #[\SensitiveParameter] ?string $secret = null, #[\SensitiveParameter] string|object|null $storage = null, ?string $key = null,
        ?float $grow = null, float|DateInterval|null $window = null, ?int $shards = null, ?int $parts = null, float|DateInterval|null $timeout = null, float|DateInterval|null $retryAfter = null,
        bool $cache = false, float|DateInterval|null $cacheMaxAge = null, ?int $waitReplicas = null, bool $adopt = false, bool $exclusive = false, ?string $overfull = null,
        ?callable $clock = null, ?array $hashes = null
    ): array {
        $given = get_defined_vars();
        return Signals::held(fn() => Opening::plan(Spec::of($given, static::class, 'plan')));
    }

    public static function open(
        #[\SensitiveParameter] string|object $storage, #[\SensitiveParameter] ?string $secret = null, ?string $key = null, bool $readOnly = false,
        int|float|null $m = null, int|float|null $n = null, int|float|null $k = null, ?float $p = null, ?string $scheme = null,
        ?float $grow = null, float|DateInterval|null $window = null, ?int $shards = null, ?int $parts = null, float|DateInterval|null $timeout = null, float|DateInterval|null $retryAfter = null,
        bool $cache = false, float|DateInterval|null $cacheMaxAge = null, ?int $waitReplicas = null, bool $adopt = false, bool $exclusive = false, ?string $overfull = null,
        ?callable $clock = null, ?array $hashes = null
    ): static {
        $given = get_defined_vars();
        return Signals::held(function () use ($given) {
            $spec = Spec::of($given, static::class, 'open', 1);
            $spec->mustExist = true;
            return static::_wrap(Opening::filter($spec)->withOverfull($spec->overfull));
        });
    }

    public function add($key): bool
    {
        if (\is_string($key)) return $this->filter ? $this->filter->add($key) : throw Fault::closed();
        $key = $this->_text($key, __FUNCTION__);
        return $this->_opened()->add($key);
    }

    public function addKey($key): bool
    {
        $key = $this->_text($key, __FUNCTION__);
        return $this->_opened()->add($key);
    }

    public function exists($key): bool
    {
        if (\is_string($key)) return $this->filter ? $this->filter->exists($key) : throw Fault::closed();
        $key = $this->_text($key, __FUNCTION__);
        return $this->_opened()->exists($key);
    }

    public function existKey($key): bool
    {
        $key = $this->_text($key, __FUNCTION__);
        return $this->_opened()->exists($key);
    }

    public function hashcode($key): array
    {
        $key = \is_string($key) ? $key : Keys::text($key, __FUNCTION__);
        return $this->_opened()->hashcode($key);
    }

    public function addMany(Traversable|array $keys): int { return $this->_sum($keys, 'add', __FUNCTION__, 'BloomFilter'); }
    public function existMany(array $keys): array { return $this->each($keys, 'exist', __FUNCTION__); }
    public function addHashes(string $hashes): int { return array_sum(Signals::held(fn() => $this->_opened()->hashes($hashes, 'addHashes'))); }
    public function existHashes(string $hashes): array { return Signals::held(fn() => $this->_opened()->hashes($hashes, 'existHashes')); }
    public function addNew(array $keys): array
    {
        $answers = $this->each($keys, 'add', __FUNCTION__);
        $new = array_filter($answers);
        return array_intersect_key($keys, $new);
    }

    public function union(BloomFilter $other): static { return Signals::held(fn() => static::_wrap(Sets::combined($this->_opened($other), $other->filter, true))); }
    public function intersect(BloomFilter $other): static { return Signals::held(fn() => static::_wrap(Sets::combined($this->_opened($other), $other->filter, false))); }
    public function equals(BloomFilter $other): bool { return Signals::held(fn() => Sets::equal($this->_opened($other), $other->filter)); }
    public function isSubsetOf(BloomFilter $other): bool { return Signals::held(fn() => Sets::subset($this->_opened($other), $other->filter)); }
    public function merge(BloomFilter $other): void
    {
        Signals::held(function () use ($other) {
            Capacity::begin($this->_opened());
            Sets::combine($this->_opened($other), $other->filter, true);
        });
    }

    public function unionCount(BloomFilter $other): int { return Signals::held(fn() => self::whole(Sets::unionCount($this->_opened($other), $other->filter))); }
    public function intersectionCount(BloomFilter $other): int { return Signals::held(fn() => self::whole(Sets::intersectionCount($this->_opened($other), $other->filter))); }

    public function count(): int { return Signals::held(fn() => self::whole(State::of($this->_opened())['count'])); }
    public function fillRatio(): float { return Signals::held(fn() => State::of($this->_opened())['fill']); }
    public function fpr(): float { return Signals::held(fn() => State::of($this->_opened())['fpr']); }
    public function saturated(): bool { return Signals::held(fn() => State::saturated($this->_opened()) > 0); }

    public function info(): array { return Signals::held($this->allInfo(...)); }

    private function allInfo(): array
    {
        $f = $this->_opened();
        $state = State::of($f);
        return ['m' => $f->m(), 'n' => $this->n, 'k' => $this->k, 'p' => $this->p, 'scheme' => $this->scheme, 'home' => $f->home,
            'storage' => $f->storage ?? ($f->batch ? $f->label : null), 'key' => $f->key, 'counting' => $f->d->counting, 'shards' => $f->d->shards,
            'parts' => $this->partInfo(), 'grow' => $f->d->grow, 'window' => 0.0, 'bytes' => intdiv($f->m() * $f->d->cellBits() + 7, 8),
            'keyed' => $f->d->secretCheck !== 0, 'readOnly' => $f->readOnly !== null, 'ones' => $state['ones'], 'fillRatio' => $state['fill'],
            'count' => self::whole($state['count']), 'fpr' => $state['fpr'], 'saturated' => $state['saturated'] > 0];
    }

    public function clear(): void { Signals::held(fn() => $this->_opened()->clear()); }

    public function toBytes(?string $format = null): string
    {
        return Signals::held(function () use ($format) {
            Spec::checkTexts(compact('format'), 'toBytes');
            return $format === null ? Image::bytes($this->_opened()) : Foreign::export($this->_opened(), $format);
        });
    }

    public static function fromBytes(
        string $bytes, #[\SensitiveParameter] ?string $secret = null, ?string $format = null, int|float|null $m = null, int|float|null $n = null,
        int|float|null $k = null, ?float $p = null, ?string $scheme = null, ?callable $clock = null, ?array $hashes = null,
        ?string $overfull = null
    ): static {
        $given = get_defined_vars();
        unset($given['bytes']);
        return Signals::held(function () use ($bytes, $format, $given) {
            Spec::checkTexts($given, 'fromBytes');
            unset($given['format']);
            $spec = Spec::of($given, static::class, 'fromBytes', 0);
            $f = $format === null ? Image::fromBytes($bytes, $spec) : Foreign::import($bytes, $format, $spec);
            return static::_wrap($f->withOverfull($spec->overfull));
        });
    }

    public function toRedisBloom(#[\SensitiveParameter] string|object $storage, ?string $key = null): void { self::fromRedisBloom($storage, $key); }
    public static function fromRedisBloom(#[\SensitiveParameter] string|object $storage, ?string $key = null): static { throw Fault::unsupported('scheme redisbloom needs the extension'); }
    public function toBase64(): string { return Signals::held(fn() => base64_encode(Image::bytes($this->_opened()))); }

    public static function fromBase64(
        string $text, #[\SensitiveParameter] ?string $secret = null, ?string $format = null, int|float|null $m = null, int|float|null $n = null,
        int|float|null $k = null, ?float $p = null, ?string $scheme = null, ?callable $clock = null, ?array $hashes = null,
        ?string $overfull = null
    ): static {
        $bytes = base64_decode($text, true);
        if ($bytes === false) throw Fault::fail(BloomFilterException::FORMAT, 'the text is not base64');
        return static::fromBytes($bytes, $secret, $format, $m, $n, $k, $p, $scheme, $clock, $hashes, $overfull);
    }

    #[ReturnTypeWillChange]
    public function jsonSerialize()
    {
        $f = $this->_opened();
        if ($f->d->secretCheck) throw Fault::unsupported('a keyed filter cannot be encoded as JSON, its secret is never stored: use toBase64() and fromBase64(secret: ...)');
        if ($f->home !== 'memory') throw Fault::unsupported('a filter in a file or in Redis cannot be encoded as JSON: encode a copy in memory, json_encode(clone $filter)');
        return ['bloomfilter' => $this->toBase64()];
    }

    public static function fromJson(string|array $json, ?callable $clock = null, ?array $hashes = null, ?string $overfull = null): static
    {
        if (\is_string($json))
            try {
                $json = json_decode($json, true, 512, JSON_THROW_ON_ERROR);
            } catch (JsonException) {
                throw Fault::fail(BloomFilterException::FORMAT, 'the text is not JSON');
            }
        if (!\is_string($json['bloomfilter'] ?? null)) throw Fault::fail(BloomFilterException::FORMAT, 'the JSON is not a filter: it has no text bloomfilter');
        return static::fromBase64($json['bloomfilter'], clock: $clock, hashes: $hashes, overfull: $overfull);
    }

    public function save(#[\SensitiveParameter] $path): void
    {
        $this->_opened();
        $place = Signals::held(fn() => Stream::of($path, true, 'save'));
        $bytes = Signals::held(fn() => \is_string($place) ? File::save($this->_opened(), $place) : Image::bytes($this->_opened()));
        if ($bytes !== null) $place->write($bytes);
    }

    public static function load(#[\SensitiveParameter] $path, #[\SensitiveParameter] ?string $secret = null, ?callable $clock = null, ?array $hashes = null, ?string $overfull = null): static
    {
        $given = compact('secret', 'clock', 'hashes', 'overfull');
        [$place, $spec] = Signals::held(fn() => [Stream::of($path, false, 'load'), Spec::of($given, static::class, 'load', 0)]);
        $bytes = \is_string($place) ? '' : $place->read();
        return Signals::held(function () use ($place, $spec, $bytes) {
            $f = \is_string($place) ? File::load($place, $spec) : Image::fromBytes($bytes, $spec);
            return static::_wrap($f->withOverfull($spec->overfull));
        });
    }

    public function partInfo(): array
    {
        $f = $this->_opened();
        Signals::held($f->follow(...));
        return array_map(fn(Part $part) => ['firstBit' => $part->start, 'm' => $part->d->m, 'n' => $part->d->n, 'p' => $part->d->p]
            + ($f->d->grow ? ['keys' => $part->d->live] : []), $f->parts);
    }

    public function sync(): void { Signals::held(fn() => $this->_opened()->sync()); }

    public function expire(float|DateInterval|null $seconds): void
    {
        Signals::held(function () use ($seconds) {
            $f = $this->_opened();
            if ($seconds instanceof DateInterval) $seconds = Spec::seconds($seconds, 'seconds', 'expire');
            if ($seconds !== null && $seconds == 0) throw Fault::value('seconds must be above 0, or null for never, got 0');
            if (!(($seconds ?? 0) >= 0 && $seconds <= 1e10)) throw Fault::value('seconds must be 0 (never) to 10000000000, got %g', (float) $seconds);
            $f->expire((float) $seconds);
        });
    }

    public function rebuild(Traversable|array $keys): int
    {
        [$f, $fresh, $during] = Signals::held(function () {
            $f = $this->_opened();
            $f->checkRebuildable();
            if ($f->rebuilt) $f = $f->besides(null);         // ends the rebuild that this one began in
            $fresh = $f->emptyCopy();
            return [$f, $fresh, $f->batch ? $f : $f->besides($fresh)];
        });
        $new = $number = 0;
        try {
            $this->filter = $during;         // while they are read, keys that are added go into both
            foreach ($keys as $index => $key) {
                $at = \is_array($keys) ? $index : $number++;
                $text = \is_string($key) ? $key : Keys::textAt($key, $at, __FUNCTION__, 'BloomFilter');
                $new += (int) self::give($fresh, 'addMany', [$text], [$at])[0];
            }
            if (!$this->filter) throw Fault::closed();
            if ($f->batch) Signals::held(fn() => Sets::replace($f, $fresh));
            $next = $f->batch ? $f : $fresh;
            Capacity::checkSoon($next);
            $last = $this->filter === $during;
            $this->filter = [$this->filter, $next][$last];         // in one step: no key that was added to both is lost
            $where = $f->where();
            if (!$last) throw Fault::fail(BloomFilterException::BUSY, '%.80s: this rebuild is over, another one began after it: nothing was changed', $where);
            unset(self::$made[$this]);
        } finally {
            if ($this->filter === $during) $this->filter = $f;
        }
        return $new;
    }

    public function shards(): int { return $this->_opened()->d->shards; }
    public function delete(): void { Signals::held(fn() => $this->_opened()->delete()); }
    public function close(): void
    {
        $this->filter?->checkIdle();
        if ($this->filter?->d->kind === Params::GROW) $this->m = $this->filter;          // by __set(), as it was unset
        $this->filter = null;
    }

    public function isCurrent(): bool { return Signals::held(fn() => $this->_opened()->isCurrent()); }

    public function __serialize(): array
    {
        return Signals::held($this->serialized(...));
    }

    private function serialized(): array
    {
        $f = $this->_opened();
        if ($f->d->secretCheck) throw Fault::unsupported('a keyed filter cannot be serialized, its secret is never stored: use toBytes() and fromBytes(secret: ...)');
        if ($f->batch) throw Fault::unsupported('a filter on a client object cannot be serialized: use toBytes()');
        $data = $f->storage === null ? ['bytes' => Image::bytes($f)] : ['storage' => $f->storage] + ($f->readOnly === '' ? ['readOnly' => true] : []);
        if (Capacity::of($f)) $data['overfull'] = Capacity::of($f);
        $members = array_diff_key((array) $this, array_flip(['m', 'n', 'k', 'p', 'scheme', "\0BloomFilter\0filter"]));
        return $members ? $data + ['members' => $members] : $data;
    }

    public function __unserialize(array $data): void
    {
        Signals::held(fn() => $this->restore($data));
        foreach (is_array($data['members'] ?? null) ? $data['members'] : [] as $name => $value)
            if (is_string($name)) $this->setMember($name, $value);
    }

    private function restore(array $data): void
    {
        $this->mustBeFresh();
        $given = array_filter(['overfull' => $data['overfull'] ?? null], is_string(...));
        $spec = Spec::of($given, static::class, '__unserialize');
        if (is_string($data['bytes'] ?? null)) $f = Image::fromBytes($data['bytes'], $spec);
        elseif (!is_string($data['storage'] ?? null))
            throw Fault::fail(BloomFilterException::FORMAT, 'the serialized data is not a filter: it has neither bytes nor storage');
        elseif (!filter_var(get_cfg_var('bloomfilter.unserialize_storage'), FILTER_VALIDATE_BOOL))
            throw new BloomFilterException('the serialized filter is in a file or in Redis: unserialize() opens those only with the INI setting '
                . 'bloomfilter.unserialize_storage=1', BloomFilterException::NOT_SUPPORTED);
        else {
            $spec = Spec::of(['storage' => $data['storage']] + $given, static::class, '__unserialize');
            [$spec->mustExist, $spec->readOnly] = [true, ($data['readOnly'] ?? null) === true];
            $f = Opening::filter($spec);
        }
        $this->install($f->withOverfull($spec->overfull));
    }

    /** Sets a property as the class that declares it would. */
    private function setMember(string $mangled, mixed $value): void
    {
        [$class, $name] = Signals::held(fn() => str_starts_with($mangled, "\0") ? explode("\0", substr($mangled, 1), 2) + [1 => ''] : ['*', $mangled]);
        if ($name === '' && $mangled !== '') return;
        $scope = $class === '*' ? static::class : $class;
        if ($scope === self::class) $scope = Filter::class;         // which sees none of its private ones
        elseif (!is_a($this, $scope)) return;
        Closure::bind(function () use ($name, $value) { $this->$name = $value; }, $this, $scope)();
    }

    public function __clone() { $this->filter = Signals::held(fn() => $this->_opened()->copy()); }

    // ---- properties that are read each time ----

    private const LIVE = ['bitset', 'grow', 'window', 'parts', 'created'];

    public function __get($name)
    {
        if ($name === 'm' && $this->filter) return $this->filter->m();
        if (!in_array($name, self::LIVE, true)) {
            if (property_exists($this, $name)) throw new Error("Typed property BloomFilter::\$$name must not be accessed before initialization");
            trigger_error('Undefined property: ' . static::class . "::\$$name", E_USER_WARNING);
            return null;
        }
        return Signals::held(function () use ($name) {
            $f = $this->_opened();
            $f->follow();
            return match ($name) {
                'bitset' => substr($f->allBits(), 0, intdiv($f->m() * $f->d->cellBits() + 7, 8)),
                'grow' => $f->d->grow ?: null,
                'created' => isset(self::$made[$this]),
                default => null,
            };
        });
    }

    public function __isset($name)
    {
        return $this->filter && ($name === 'm' || $name === 'bitset' || $name === 'created' || ($name === 'grow' && $this->filter->d->grow));
    }

    public function __set($name, $value)
    {
        if ($name === 'm' && $value instanceof Filter) {         // close()
            $this->m = $value->m();
            return;
        }
        $what = in_array($name, self::LIVE, true) || $name === 'm' ? 'modify readonly' : 'create dynamic';
        throw new Error("Cannot $what property " . static::class . "::\$$name");
    }

    public function __unset($name)
    {
        if (in_array($name, self::LIVE, true) || $name === 'm') throw new Error('Cannot unset readonly property ' . static::class . "::\$$name");
    }

    public function __debugInfo()
    {
        $shown = get_mangled_object_vars($this);
        unset($shown["\0BloomFilter\0filter"]);
        return $this->filter ? ['m' => $this->filter->m()] + $shown : $shown;
    }

    // ---- what the methods share ----

    private function mustBeFresh(): void
    {
        if ($this->filter || isset($this->n)) throw new Error(static::class . ' object is already constructed');
    }

    /** m of a filter that grows, and what is read each time, stay without a value: __get() is called then. */
    private function install(Filter $f): void
    {
        unset($this->bitset, $this->grow, $this->window, $this->parts, $this->created);
        if ($f->d->kind === Params::GROW) unset($this->m);
        else $this->m = $f->d->m;
        [$this->n, $this->k, $this->p, $this->scheme] = [$f->d->n, $f->d->k, $f->d->effectiveP(), $f->d->scheme->name];
        $this->filter = $f;
        State::warnOfWeakHash($f);
    }

    protected static function _wrap(Filter $f): static
    {
        $class = new ReflectionClass(static::class);
        if ($class->isAbstract()) throw new Error('Cannot instantiate abstract class ' . static::class);
        $object = $class->newInstanceWithoutConstructor();
        $object->install($f);
        return $object;
    }

    /** The filter; of two operands the first, where both are open. */
    protected function _opened(?BloomFilter $other = null): Filter
    {
        if ($other && !$other->filter) throw Fault::closed();
        return $this->filter ?? throw Fault::closed();
    }

    /** A closed filter is said before a wrong key. */
    protected function _text(mixed $key, string $method, string $class = 'BloomFilter'): string
    {
        $this->_opened();
        return \is_string($key) ? $key : Keys::text($key, $method, $class);
    }

    private static function whole(float $count): int { return $count < 2 ** 63 ? (int) ($count + 0.5) : PHP_INT_MAX; }

    /** How many answers are true. */
    protected function _sum(iterable $keys, string $op, string $method, string $class): int
    {
        $sums = $this->run($keys, $op, $method, $class, true);
        return array_sum($sums);
    }

    /** The answers under their keys. */
    private function each(array $keys, string $op, string $method): array
    {
        [$all, $names, $batches] = [[], array_keys($keys), $this->run($keys, $op, $method, 'BloomFilter', false)];
        foreach ($batches as $answers) foreach ($answers as $answer) $all[] = $answer;
        return array_combine($names, $all);
    }

    /** An exception has the index of a key of these: its place becomes that in the program's array or iterator. */
    private static function give(Filter $f, string $method, array $keys, array $places): array
    {
        try {
            return $f->$method($keys);
        } catch (BloomFilterException $e) {
            if (isset($e->index)) Keys::setIndex($e, $places[$e->index]);
            throw $e;
        }
    }

    /**
     * Gives the keys to the filter, so many at a time as its home wants.  Those before a bad key or an exception are done.  A list of the answers to so
     * many, or of their sums.  No call is an argument of another one: PHP 8.2 may crash if a signal handler throws between them.
     */
    private function run(iterable $keys, string $op, string $method, string $class, bool $sum): array
    {
        $most = $this->_opened()->batch ?: 256;
        if ($op === 'add') Capacity::begin($this->filter);
        $op .= 'Many';
        $number = 0;
        $all = $batch = $places = [];
        try {
            foreach ($keys as $index => $key) {
                $at = \is_array($keys) ? $index : $number++;
                $text = \is_string($key) ? $key : Keys::textAt($key, $at, $method, $class);
                if (\count($batch) === $most) {
                    [$now, $of, $batch, $places] = [$batch, $places, [], []];
                    $f = $this->_opened();
                    $answers = Signals::held(fn() => self::give($f, $op, $now, $of));
                    $all[] = $sum ? array_sum($answers) : $answers;
                }
                $batch[] = $text;
                $places[] = $at;
            }
        } finally {
            if ($batch) {
                $f = $this->_opened();
                $answers = Signals::held(fn() => self::give($f, $op, $batch, $places));
                $all[] = $sum ? array_sum($answers) : $answers;
            }
        }
        return $all;
    }
}
