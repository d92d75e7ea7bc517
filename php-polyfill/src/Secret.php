<?php
namespace Bloomfilter\Polyfill;

/** The 16 bytes of a keyed filter.  They are outside the object, so that no dump of it shows them. */
final class Secret
{
    private const CHECK = 'bloomfilter secret check v1';
    private static ?\WeakMap $bytes = null;

    public static function of(#[\SensitiveParameter] string $bytes): self
    {
        self::$bytes ??= new \WeakMap;
        self::$bytes[$secret = new self] = $bytes;
        return $secret;
    }

    public function hash(string $key): int
    {
        $hash = sodium_crypto_shorthash($key, self::$bytes[$this]);
        return unpack('P', $hash)[1];
    }

    /** What files and Redis keep of a secret; 0 without one. */
    public static function check(Scheme $scheme, ?self $secret): int
    {
        if (!$secret) return 0;
        if (($length = strlen(self::$bytes[$secret])) !== 16) throw Fault::refuse('secret', "$length bytes");
        if (!$scheme->canBeKeyed()) throw Fault::value('scheme %s cannot be keyed: secret must not be given', $scheme->name);
        if (!function_exists('sodium_crypto_shorthash'))
            throw Fault::unsupported('secret needs the extension sodium, which this PHP lacks');
        return $secret->hash(self::CHECK) ?: 1;
    }

    /** Is it the secret of what is stored? */
    public static function match(Params $stored, ?self $secret, string $where): void
    {
        $check = self::check($stored->scheme, $secret);
        if ($check !== $stored->secretCheck) throw Fault::fail(\BloomFilterException::MISMATCH, '%.80s %s', $where, match (true) {
            !$stored->secretCheck => 'is not keyed, but a secret was given',
            !$check => 'is keyed: its secret must be given',
            default => 'is keyed with another secret, or has other functions',
        });
    }
}
