<?php
namespace Bloomfilter\Polyfill;

/** The constructor's arguments.  0 and null: not given. */
final class Spec
{
    public int $m = 0;
    public int $n = 0;
    public int $k = 0;
    public float $p = 0.0;
    public ?string $scheme = null;
    public ?Secret $secret = null;
    public ?string $storage = null;
    public ?object $client = null;
    public ?string $key = null;
    public float $grow = 0.0;
    public float $window = 0.0;
    public int $shards = 0;
    public int $parts = 0;
    public float $timeout = 0.0;
    /** -1.0: given, as 0. */
    public float $retryAfter = 0.0;
    public bool $cache = false;
    public float $cacheMaxAge = 0.0;
    public int $waitReplicas = 0;
    public bool $adopt = false;
    public bool $exclusive = false;
    public ?string $overfull = null;
    public mixed $clock = null;
    public ?array $hashes = null;
    public bool $counting = false;
    public bool $readOnly = false;
    public bool $mustExist = false;
    /** Set by the opening: was it made? */
    public bool $created = false;

    /** Objects show in stack traces. */
    public function __debugInfo(): array { return ['storage' => ''] + get_object_vars($this); }

    /** @param array<string, mixed> $given by the names of the parameters; $at: the argument storage in $method */
    public static function of(#[\SensitiveParameter] array $given, string $class, string $method, int $at = 7): self
    {
        $spec = new self;
        $spec->counting = is_a($class, \CountingBloomFilter::class, true);
        self::checkTexts($given, $method);
        foreach ($given as $name => $value) {
            if ($value === null || $name === 'storage') continue;
            if ($value instanceof \DateInterval) $value = self::seconds($value, $name, $method);
            $spec->$name = match ($name) {
                'm', 'n' => self::whole($name, $value, PHP_INT_MAX),
                'k', 'shards', 'parts', 'waitReplicas' => self::whole($name, $value, Numbers::LOW),
                'p', 'grow', 'window', 'timeout', 'cacheMaxAge' => self::real($name, $value, $value == 0),
                'retryAfter' => self::real($name, $value, $value < 0) ?: -1.0,
                'overfull' => self::overfull($value),
                'secret' => Secret::of($value),
                default => $value,
            };
        }
        $spec->home($given['storage'] ?? null, $method, $at);
        return $spec;
    }

    /** Texts that C reads to their end. */
    public static function checkTexts(#[\SensitiveParameter] array $given, string $method): void
    {
        if (!str_contains(implode(array_map(fn($name) => $given[$name] ?? '', ['scheme', 'key', 'overfull', 'format'])), "\0")) return;
        foreach ((new \ReflectionMethod('BloomFilter', $method))->getParameters() as $i => $parameter) {
            $name = $parameter->name;
            if ($name !== 'secret' && $name !== 'storage' && is_string($given[$name] ?? null) && str_contains($given[$name], "\0"))
                throw new \ValueError("BloomFilter::$method(): Argument #" . $i + 1 . " (\$$name) must not contain any null bytes");
        }
    }

    /** The length of an interval, if it is the same whenever it begins. */
    public static function seconds(\DateInterval $interval, string $name, string $method): float
    {
        try {
            if (preg_match('/\bday of\b/i', ((array) $interval)['date_string'] ?? '')) $lengths = [];
            elseif (($interval->days ?? false) !== false)          // the difference of two dates
                $lengths[] = ($interval->days * 86400 + $interval->h * 3600 + $interval->i * 60 + $interval->s + $interval->f) * ($interval->invert ? -1 : 1);
            else foreach (['1971-01-04', '1971-02-05', '1972-02-09'] as $date) {
                $begin = new \DateTimeImmutable("$date UTC");
                $lengths[] = round($begin->add($interval)->format('U.u') - $begin->format('U.u'), 6);
            }
        } catch (\Error) {
            $lengths = [];                          // it was never constructed
        }
        if (count(array_unique($lengths)) === 1) return (float) $lengths[0];
        foreach ((new \ReflectionMethod('BloomFilter', $method))->getParameters() as $i => $parameter)
            if ($parameter->name === $name) throw new \ValueError("BloomFilter::$method(): Argument #" . $i + 1 . " (\$$name) must be a DateInterval of days, hours, minutes and seconds");
    }

    private static function whole(string $name, int|float $value, int $most): int
    {
        if ($value < 1 || $value > $most || (is_float($value) && !($value < 2 ** 63 && $value == floor($value))))
            throw Fault::refuse($name, $value);
        return (int) $value;
    }

    private static function overfull(string $value): string
    {
        return in_array($value, ['warn', 'raise', 'ignore'], true) ? $value : throw Fault::refuse('overfull', $value);
    }

    private static function real(string $name, float $value, bool $out): float
    {
        return is_finite($value) && !$out ? $value : throw Fault::refuse($name, $value);
    }

    private function home(string|object|null $storage, string $method, int $at): void
    {
        if (is_object($storage) && Redis\Client::takes($storage)) {
            $this->client = $storage;
            return;
        }
        if (is_object($storage) && !$storage instanceof \Stringable) {
            throw new \TypeError("BloomFilter::$method(): Argument #$at (\$storage) must be a path, a URL or a phpredis object "
                . '(Redis, RedisCluster) or Predis\ClientInterface, ' . get_class($storage) . ' given');
        }
        if (is_string($storage) && str_contains($storage, "\0"))
            throw new \ValueError("BloomFilter::$method(): Argument #$at (\$storage) must not contain any null bytes");
        if ($storage !== null) $this->storage = File::storage((string) $storage);
    }

    public function inRedis(): bool { return $this->client !== null || ($this->storage !== null && File::isUrl($this->storage)); }

    /** What can be refused before anything is opened, in the extension's order. */
    public function check(): void
    {
        $redis = $this->inRedis();
        $this->checkNumbers();
        if ($this->counting && $this->window)
            throw Fault::value('a counting filter cannot forget: window must not be given');
        if ($this->grow && !($this->grow >= 1 && $this->grow <= 1024)) throw Fault::refuseReal('grow', $this->grow);
        if ($this->window && !($this->window >= 1e-4 && $this->window <= 1e300)) throw Fault::refuseReal('window', $this->window);
        if (($this->grow || $this->window) && $this->shards > 1)
            throw Fault::value('shards=%u: a filter with shards can neither grow nor forget', $this->shards);
        if (($this->parts || $this->clock) && !$this->window && $this->storage === null && !$redis)
            throw Fault::value('%s is for forgetting filters: give window', $this->parts ? 'parts' : 'clock');
        $this->checkRedis($redis);
        if ($this->exclusive) {
            throw $this->readOnly ? Fault::value('exclusive is for writing: readOnly must not be given')
                : ($this->storage === null || $redis ? Fault::value('exclusive is for mapped files, but no file is given')
                : Fault::unsupported('exclusive needs the extension: pure PHP opens files to read'));
        }
        if ($this->cacheMaxAge && !$this->cache) throw Fault::value('cacheMaxAge=%g needs cache', $this->cacheMaxAge);
        if ($this->key !== null && !$redis)
            throw Fault::value('key=%.60s names a filter inside Redis, but no Redis is given', $this->key);
        $this->checkWindow();
    }

    public function checkNumbers(): void
    {
        Sizing::checkRanges($this);
        if ($this->scheme !== null) Scheme::find(Sizing::schemeOf($this));
        if ($this->hashes !== null) throw Fault::unsupported('hashes needs the extension: pure PHP has no scheme functions');
    }

    private function checkRedis(bool $redis): void
    {
        if ($this->timeout && !($this->timeout >= 0.001 && $this->timeout <= 86400))
            throw Fault::refuseReal('timeout', $this->timeout);
        if ($this->retryAfter > 86400) throw Fault::refuseReal('retryAfter', $this->retryAfter);
        if ($this->cacheMaxAge < 0) throw Fault::refuseReal('cacheMaxAge', $this->cacheMaxAge);
        if (!$redis && ($this->timeout || $this->retryAfter || $this->waitReplicas || $this->cache || $this->cacheMaxAge))
            throw Fault::value('timeout, retryAfter, waitReplicas, cache and cacheMaxAge are for filters in Redis, but no Redis is given');
        if ($this->adopt && (!$redis || $this->readOnly || $this->scheme === null))
            throw Fault::value(match (true) {
                !$redis => 'adopt is for filters in Redis, but no Redis is given',
                $this->readOnly => 'adopt writes to the filter: readOnly must not be given',
                default => "adopt takes over another system's bitmap: scheme must be given",
            });
    }

    private function checkWindow(): void
    {
        if (!$this->window) return;
        if ($this->grow) throw Fault::value('grow=%g and window=%g must not be given together', $this->grow, $this->window);
        if ($this->m || (!$this->mustExist && (!$this->n || !$this->p)))
            throw Fault::value('window needs n and p, and no m: sizes follow from the rate to keep');
        throw Fault::unsupported('window=%g needs the extension: pure PHP has no filters that forget', $this->window);
    }
}
