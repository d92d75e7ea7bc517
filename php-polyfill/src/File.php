<?php
namespace Bloomfilter\Polyfill;

/** A filter's file, open to be read: each test reads it, so what other processes add is seen.  PHP has no atomic OR to add by. */
final class File implements Store
{
    private const MEANT = ['redis' => 'a Redis URL is redis://host:port/db?key=NAME', 'rediss' => 'a Redis URL with TLS is rediss://host:port/db?key=NAME',
        'unix' => 'a Redis socket is unix:///path?key=NAME', 'http' => 'filters are not opened over HTTP',
        'https' => 'filters are not opened over HTTP', 'file' => 'a file is file:PATH, or the path alone'];

    /** @param resource $handle */
    public function __construct(private $handle, private Params $d, private int $at, private string $path) {}

    public static function isUrl(string $storage): bool { return (bool) preg_match('~^(redis|rediss|unix)://~', $storage); }

    public static function refuseUrl(#[\SensitiveParameter] string $url): \BloomFilterException
    {
        return Fault::unsupported('storage %s://...: pure PHP makes no connection of its own: give a phpredis or Predis object, and key', strstr($url, ':', true));
    }

    /** A path made absolute, or a URL as it is.  Mistakes must never become the name of a file. */
    public static function storage(string $storage): string
    {
        if (self::isUrl($storage)) return $storage;
        if ($storage === '') throw Fault::value('storage must be a path or a URL, got an empty one');
        if (str_starts_with($storage, 'file:') && !str_starts_with($storage, 'file://')) {
            if ($storage === 'file:') throw Fault::value('storage file: names no path: write file:PATH');
            return self::absolute(substr($storage, 5));
        }
        if (preg_match('~^[ \t\r\n"\']*([A-Za-z0-9+._-]+):(//)?~', $storage, $match)) {
            $meant = self::MEANT[strtolower($match[1])] ?? (isset($match[2]) ? 'a storage is a path, redis://, rediss:// or unix://' : null);
            $word = substr($match[1], 0, 20);
            if ($meant) throw Fault::value('storage %s:...: %s; a file of that name is file:%s:...', $word, $meant, $word);
        }
        // host:port, as other clients of Redis are configured
        if (preg_match('~^[ \t\r\n"\']*(?:[^/\\\\?@]*@)?((?:\[[0-9A-Za-z:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5})(?:/[0-9]*)?(?:\?.*|[ \t\r\n"\']*)$~sD', $storage, $match)) {
            $pair = substr($match[1], 0, 28);
            throw Fault::value('storage %s: a Redis URL is redis://%s/0?key=NAME; a file of that name is ./%s', $pair, $pair, $pair);
        }
        return self::absolute($storage);
    }

    public static function absolute(string $path): string { return $path[0] === '/' || PHP_OS_FAMILY === 'Windows' ? $path : getcwd() . "/$path"; }

    /** @param bool $only not file:PATH, and any name */
    public static function path(string $path, string $method, bool $only): string
    {
        if (str_contains($path, "\0")) throw new \ValueError("BloomFilter::$method(): Argument #1 (\$path) must not contain any null bytes");
        if (!$only) return self::storage($path);
        return $path === '' ? throw Fault::value('a path must not be empty') : self::absolute($path);
    }

    /** Checked before it is opened: a FIFO would wait for its writer. */
    private static function mustBeRegular(string $what, string $path): void
    {
        $type = Fault::quietly(fn() => filetype(is_link($path) ? (string) realpath($path) : $path));
        if ($type && $type !== 'file' && $type !== 'unknown' && ($what !== 'write' || $type !== 'dir') && ($what === 'write' || filetype($path) !== 'socket'))
            throw Fault::fail(\BloomFilterException::IO, 'cannot %s %.80s: it is %s, not a regular file', $what, $path,
                ['dir' => 'a directory', 'fifo' => 'a FIFO'][$type] ?? 'a device or socket');
    }

    /** @return resource */
    private static function handle(string $path)
    {
        self::mustBeRegular('open', $path);
        $handle = Fault::quietly(fopen(...), $path, 'rb') ?: throw Fault::file('open', $path);
        stream_set_read_buffer($handle, 0);
        return $handle;
    }

    private static function reader($handle, string $path): \Closure
    {
        return function (int $from, int $bytes) use ($handle, $path) {
            fseek($handle, $from);
            $text = $bytes ? (string) stream_get_contents($handle, $bytes) : '';
            if (strlen($text) < $bytes) throw Fault::fail(\BloomFilterException::IO, '%.80s was truncated while it was open', $path);
            return $text;
        };
    }

    /** A copy in memory.  Others may write meanwhile: then the sums need not fit what was read. */
    public static function load(string $path, Spec $spec): Filter
    {
        $handle = self::handle($path);
        $read = self::reader($handle, $path);
        for ($tries = 1;; $tries++) {
            $len = fstat($handle)['size'];
            $page = $read(0, min($len, 4096));
            try {
                return Image::read($read, $len, $path, $spec, function (Params $d, int $at) use ($read) {
                    $memory = new Memory($d);
                    $memory->replace($read($at, $d->bytes()));
                    return $memory;
                });
            } catch (\BloomFilterException $e) {
                $same = $page === $read(0, min(fstat($handle)['size'], 4096)) && substr($page, 2048, 8) === substr($page, 2056, 8);
                if ($e->getCode() !== \BloomFilterException::FORMAT || $tries === 3 || $same || strlen($page) < 4096) throw $e;
            }
        }
    }

    /** Bound to the file, to read it. */
    public static function open(string $path, Spec $spec): Filter
    {
        if (is_link($path) && !file_exists($path)) throw Fault::fail(\BloomFilterException::IO, 'cannot open %.100s: it is a dangling symbolic link', $path);
        $handle = self::handle($path);
        $read = self::reader($handle, $path);
        if (Image::isCompact($read(0, min(fstat($handle)['size'], 12)))) throw Fault::unsupported(
            '%.60s has a compact header and cannot be mapped: use load(), or convert it with bloomfilter convert', $path);
        $f = Image::read($read, fstat($handle)['size'], $path, $spec, fn(Params $d, int $at) => new self($handle, $d, $at, $path), true);
        $bound = new FileFilter($f->d, $f->secret);
        foreach ($f->parts as $part) $bound->append($part);
        [$bound->read, $bound->handle, $bound->home, $bound->label, $bound->storage] = [$read, $handle, 'file', $path, $path];
        $bound->setReadOnly($spec->readOnly ? '' : ', pure PHP cannot write to a file that others may use');
        return $bound;
    }

    public function read(int $from, int $bytes): string { return self::reader($this->handle, $this->path)($this->at + $from, $bytes); }

    public function testMany(array $keys): array { return array_map(fn(array $positions) => $this->least($positions) > 0, $keys); }
    public function countMany(array $keys): array { return array_map($this->least(...), $keys); }
    public function addMany(array $keys): array { throw new \LogicException; }
    public function removeMany(array $keys): array { throw new \LogicException; }
    public function replace(string $bits): void { throw new \LogicException; }

    /** The smallest cell of a key; lines are read once. */
    private function least(array $positions): int
    {
        $bits = $this->d->cellBits();
        $lines = [];
        foreach ($positions as $at) {
            $at *= $bits;
            $rest = $this->d->bytes() - ($at >> 9 << 6);
            $rest = min($rest, 64);
            $line = $lines[$at >> 9] ??= $this->read($at >> 9 << 6, $rest);
            $value = ord($line[$at >> 3 & 63]) >> 8 - $bits - ($at & 7) & (1 << $bits) - 1;
            if ($value < ($least ?? 16)) $least = $value;
            if (!$least) break;
        }
        return $least;
    }

    /** By a temporary file and a rename: no reader sees half of it. */
    public static function save(Filter $f, string $path): void
    {
        clearstatcache(true, $path);
        self::mustBeRegular('write', $path);
        $f->follow();
        $begin = substr($path, 0, strlen($path) - max(0, strlen(basename($path)) - 234));
        $temp = "$begin.tmp-" . bin2hex(random_bytes(8));
        $handle = Fault::quietly(fopen(...), $temp, 'xb') ?: throw Fault::file('write', $path);
        try {
            if (is_file($path) && !chmod($temp, fileperms($path) & 0777)) throw Fault::file('keep the rights of', $path);
            foreach (Image::pieces($f, false) as $piece)
                if (Fault::quietly(fwrite(...), $handle, $piece) !== strlen($piece)) throw Fault::file('write', $path);
            if (!Fault::quietly(fn() => fsync($handle) && fclose($handle) && rename($temp, $path))) throw Fault::file('write', $path);
        } catch (\Throwable $e) {
            unlink($temp);
            throw $e;
        }
    }
}
