<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Fault, Filter, Numbers, Params, Part, Secret, Sizing, Spec};

/** Opens what is under a key, or makes a filter there. */
final class Opening
{
    private function __construct(private Spec $spec, private Key $key) {}

    public static function filter(Spec $spec): Filter
    {
        if ($spec->timeout || $spec->retryAfter)
            throw Fault::value('%s is for URLs: a Redis client has its own policy', $spec->timeout ? 'timeout' : 'retryAfter');
        if ((string) $spec->key === '') throw Fault::value('a Redis client needs key, the name of the filter in Redis');
        $client = new Client($spec->client);
        if ($client->cluster && $spec->waitReplicas)
            throw Fault::unsupported("waitReplicas is not possible with a cluster's object: it sends commands as scripts, and a script cannot WAIT");
        $name = $client->prefix . $spec->key;
        if ($client->cluster && !Names::tagged($name) && str_contains($name, '}'))
            throw Fault::value('key %.60s has a } in it, so in a cluster it needs a hash tag, as in {seen}:1', $name);
        $key = new Key($client, $name);
        $key->waitReplicas = $spec->waitReplicas;
        return (new self($spec, $key))->open();
    }

    private function mayCreate(): bool { return !$this->spec->readOnly && !$this->spec->mustExist && Sizing::suffices($this->spec); }

    private function open(): Filter
    {
        for ($tries = 0; $tries < 100; $tries++) {
            $f = $this->attach();
            $this->spec->created = !$f;
            if ($f ??= $this->create()) break;
        }
        if (!$f) throw self::restless($this->key->label);
        [$f->home, $f->label, $f->key, $f->batch] = ['redis', $this->key->label, $this->key->key, max(1, min(1000, intdiv(8192, $f->d->k)))];
        $f->setReadOnly($this->spec->readOnly ? '' : null);
        return $f;
    }

    public static function restless(string $label): \BloomFilterException
    {
        return Fault::fail(\BloomFilterException::IO, '%.80s is created and deleted all the time: it could neither be opened nor created', $label);
    }

    /** What is there: Redis is read again where another program is in the middle of making or deleting it. */
    private function attach(): ?Filter
    {
        for ($i = 0;; $i++) {
            try {
                return $this->attachOnce();
            } catch (\BloomFilterException $e) {
                if ($i === 5 || !in_array($e->getCode(), [\BloomFilterException::FORMAT, \BloomFilterException::MISMATCH], true) || !$this->mayChange) throw $e;
                usleep(4000);
            }
        }
    }

    private bool $mayChange = false;
    private int $seen = 0;

    private function attachOnce(): ?Filter
    {
        $key = $this->key;
        $this->mayChange = false;
        [$meta, $bytes, $end] = $key->look();
        $this->seen = $meta->mark ?? 0;
        if ($meta) $key->adoptState($meta);
        if ($meta && $meta->d->shards > 1) {
            $this->check($meta->d);
            $f = $this->filtered($meta->d);
            $f->parts[0]->store->open($this->mayCreate());
            return $f;
        }
        if ($bytes === 0) return $this->mayCreate() ? null : throw $meta ? $key->lost()
            : Fault::fail(\BloomFilterException::NOT_FOUND, '%s does not exist', $key->label);
        $this->mayChange = true;
        if (!$meta) return $this->attachForeign($bytes);
        if ($key->complete($meta, $bytes, $end)) {
            $this->check($meta->d);
            return $this->filtered($meta->d);
        }
        if (!$meta->adopted || !$this->spec->adopt) throw $key->unmarked($bytes);
        $this->check($meta->d);                 // the other system began a new bitmap
        $this->fits($meta->d, $bytes);
        $this->adopt($meta->d);
        return $this->filtered($meta->d);
    }

    private function filtered(Params $d): Filter
    {
        $f = $d->kind === Params::GROW ? new Growing($d, $this->spec->secret) : new RedisFilter($d, $this->spec->secret);
        $f->bind($this->key);
        return $f;
    }

    private function check(Params $d): void
    {
        $d->checkMatch($this->spec, $this->key->label);
        Secret::match($d, $this->spec->secret, $this->key->label);
    }

    private function create(): ?Filter
    {
        $d = Sizing::any($this->spec, Key::MOST_BITS);
        $d->secretCheck = Secret::check($d->scheme, $this->spec->secret);
        $most = $d->scheme->native || $d->counting ? Key::MOST_BITS : 1 << 32;
        $first = $d->kind === Params::GROW ? Sizing::part($d, 0, 0) : null;
        if (intdiv(($first ?? $d)->bits(), $d->shards) > $most) throw $first
            ? Fault::value('1 part of m=%d %s do not fit one Redis key of at most %d: use a file, or a larger p or smaller n', $first->m, $d->cells(), intdiv(Key::MOST_BITS, $d->cellBits()))
            : Fault::value('m=%d %s are too many for %u Redis key%s of at most %d: %s shards', $d->m, $d->cells(), $d->shards,
                $d->shards > 1 ? 's' : '', intdiv(Key::MOST_BITS, $d->cellBits()), $d->scheme->native ? 'pass more' : 'use a scheme with');
        $this->key->take($d, $first ? [$first] : []);
        if ($d->shards === 1) return $this->key->create($this->seen) ? $this->filtered($d) : null;
        $f = $this->filtered($d);
        return $f->parts[0]->store->make($this->seen) ? $f : null;
    }

    // ---- bitmaps of other systems ----

    private function attachForeign(int $bytes): Filter
    {
        [$spec, $key] = [$this->spec, $this->key];
        if (!($spec->mustExist || $spec->readOnly || $spec->adopt) || $spec->scheme === null)
            throw Fault::fail(\BloomFilterException::FORMAT, '%s holds %d bytes that are not our filter: to take over a bitmap of another system, give scheme, m, k and adopt', $key->label, $bytes);
        $this->mayChange = false;
        if ($spec->shards > 1) throw Fault::unsupported('%s is a foreign bitmap: it has no shards', $key->label);
        if ($spec->cache && !$spec->adopt) throw Fault::unsupported('%s is a foreign bitmap: it has no mark, and cache needs one', $key->label);
        if ($spec->counting) throw Fault::unsupported('%s holds bytes of another system, which are bits and not counters', $key->label);
        $d = Sizing::fixed($spec, Key::MOST_BITS);
        $d->secretCheck = Secret::check($d->scheme, $spec->secret);
        $key->take($d);
        $this->fits($d, $bytes);
        $key->foreign = !$spec->adopt;
        if ($spec->adopt) $this->adopt($d);
        return $this->filtered($d);
    }

    private function fits(Params $d, int $bytes): void
    {
        $label = $this->key->label;
        $needs = $d->m + 7 >> 3;
        if ($bytes > $needs && $bytes !== $this->key->length())
            throw Fault::fail(\BloomFilterException::MISMATCH, '%s holds %d bytes, m=%d bits take %d: it has another m', $label, $bytes, $d->m, $needs);
        if ($this->spec->adopt && $bytes > $needs)
            throw Fault::fail(\BloomFilterException::MISMATCH, '%s holds %d bytes, more than m=%d needs: adopt would overwrite the last 4; pass its true m, or rebuild it without adopt', $label, $bytes, $d->m);
        $last = $d->m % 8 ? (string) $this->key->query([['GETRANGE', $this->key->key, $d->m >> 3, $d->m >> 3]])[0] : '';
        if ($last !== '' && ord($last) & 0xFF >> $d->m % 8)
            throw Fault::fail(\BloomFilterException::MISMATCH, '%s has bits set past m=%d: it has another m', $label, $d->m);
    }

    private function adopt(Params $d): void
    {
        $key = $this->key;
        $mark = Numbers::random();
        do {
            $done = $key->script('adopt', [$key->key, $key->meta], [$key->markAt(), $d->m + 7 >> 3, 8 << 20, $this->seen ? sprintf('%08x', $this->seen) : '', pack('N', $mark),
                ...Meta::fields($key, $mark), 'adopted', '1']);
        } while ($done === 2);
        if ($done !== 1) throw Fault::fail(\BloomFilterException::IO, '%s changes too fast to be adopted', $key->label);
        $key->mark = $key->id = $mark;
    }
}
