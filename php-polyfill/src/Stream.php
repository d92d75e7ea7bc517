<?php
namespace Bloomfilter\Polyfill;

/** A stream that save() writes and load() reads: the caller's, or one opened by its URL. */
final class Stream
{
    /** @param resource $handle */
    private function __construct(private $handle, private bool $opened) {}

    /** @return self|string a stream, or the absolute path of a file */
    public static function of(#[\SensitiveParameter] mixed $place, bool $write, string $method): self|string
    {
        if (!\is_string($place)) {
            if (!str_starts_with(\gettype($place), 'resource'))
                throw new \TypeError("BloomFilter::$method(): Argument #1 (\$path) must be a path or an open stream, " . get_debug_type($place) . ' given');
            if (!\is_resource($place) || !str_ends_with(get_resource_type($place), 'stream'))
                throw new \TypeError("BloomFilter::$method(): supplied resource is not a valid stream resource");
            return new self($place, false);
        }
        if (File::isUrl($place)) throw File::refuseUrl($place);
        if (!preg_match('~^([a-z][a-z0-9+.-]*)://|^(data):~i', $place, $match) || strtolower($match[1]) === 'file')
            return File::path(preg_replace('~^file://(localhost(?=/))?~i', '', $place, 1, $isUrl), $method, $isUrl > 0);
        if (!\in_array($name = strtolower($match[2] ?? $match[1]), stream_get_wrappers(), true))
            throw Fault::fail(\BloomFilterException::IO, 'BloomFilter::%s(): Unable to find the wrapper "%.40s"', $method, $name);
        $shown = preg_replace('~://.*@~s', '://...@', $place);            // without a password
        $inside = preg_replace('~^compress\.\w+://~', '', $place);       // these do not give the reason
        if ($inside !== $place && !$write && !file_exists($inside))
            throw Fault::fail(\BloomFilterException::NOT_FOUND, 'cannot open %.80s: No such file or directory', $shown);
        return new self(Fault::quietly(fopen(...), $place, $write ? 'wb' : 'rb') ?: throw Fault::file('open', $shown), true);
    }

    public function write(string $bytes): void
    {
        $written = (int) Fault::quietly(fwrite(...), $this->handle, $bytes);
        $user = stream_get_meta_data($this->handle)['wrapper_data'] ?? null;   // without stream_flush it stores in stream_write
        $flushed = \is_object($user) && !method_exists($user, 'stream_flush') || Fault::quietly(fflush(...), $this->handle);
        if ((!$this->opened || fclose($this->handle)) && $flushed && $written === \strlen($bytes)) return;
        $also = $flushed ? '' : ', and a flush failed';
        throw Fault::fail(\BloomFilterException::IO, 'the stream did not take the filter: %d of its %d bytes are written%s', $written, \strlen($bytes), $also);
    }

    /** What the image needs, or less at the end of the stream. A path must hold nothing else: one byte more, if there is one. */
    public function read(): string
    {
        $bytes = '';
        while ($wants = Signals::held(fn() => Image::wants($bytes))) {
            $some = min($wants, 1 << 20);                        // a header may ask for more than there is
            $piece = (string) Fault::quietly(fread(...), $this->handle, $some);
            if ($piece === '') break;
            $bytes .= $piece;
        }
        if (!$wants && $this->opened) {
            $bytes .= $piece = (string) Fault::quietly(fread(...), $this->handle, 1);
            $wants = $piece === '';
        }
        $all = !$wants || feof($this->handle);
        if ($this->opened) fclose($this->handle);
        return $all ? $bytes : throw Fault::fail(\BloomFilterException::IO, 'the stream cannot be read to its end');
    }
}
