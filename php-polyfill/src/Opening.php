<?php
namespace Bloomfilter\Polyfill;

/** Chooses the home of a filter, then opens or makes it. */
final class Opening
{
    public static function filter(Spec $spec): Filter
    {
        $spec->check();
        if ($spec->client) return Redis\Opening::filter($spec);
        if ($spec->storage === null) return self::inMemory($spec);
        if (File::isUrl($spec->storage)) throw File::refuseUrl($spec->storage);
        if (!$spec->mustExist && Sizing::suffices($spec) && !file_exists($spec->storage))
            throw Fault::unsupported('cannot create %.60s: pure PHP opens files to read, save() writes them', $spec->storage);
        return File::open($spec->storage, $spec);
    }

    private static function inMemory(Spec $spec): Filter
    {
        $spec->created = true;
        $d = Sizing::any($spec);
        $d->secretCheck = Secret::check($d->scheme, $spec->secret);
        return Filter::memory($d, $spec->secret);
    }

    /** @return array{m: int, n: int, k: int, p: float, scheme: string} */
    public static function plan(Spec $spec): array
    {
        $spec->check();
        $d = Sizing::any($spec, $spec->inRedis() ? Redis\Key::MOST_BITS : 0);
        Secret::check($d->scheme, $spec->secret);
        $m = $d->kind === Params::GROW ? Sizing::part($d, 0, 0)->m : $d->m;
        return ['m' => $m, 'n' => $d->n, 'k' => $d->k, 'p' => $d->effectiveP(), 'scheme' => $d->scheme->name];
    }
}
