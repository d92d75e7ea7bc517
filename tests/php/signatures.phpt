--TEST--
Classes and methods are declared as documented
--FILE--
<?php require __DIR__ . '/helpers.inc';
$class = new ReflectionClass('BloomFilter');
same([['Countable', 'JsonSerializable'], false, 'bloomfilter'], [$class->getInterfaceNames(), $class->isFinal(), $class->getExtensionName()]);
same('RuntimeException', get_parent_class('BloomFilterException'));
same([0, -2, -3, -4, -5, -6, -8, -9, -10, -11], array_values((new ReflectionClass('BloomFilterException'))->getConstants()));
$known = [];
foreach ($class->getMethods() as $method) {
    $arguments = array_map(fn($p) => $p->getType() . ' $' . $p->getName() . ($p->isOptional() ? '?' : ''), $method->getParameters());
    $known[] = ($method->isStatic() ? 'static ' : '') . $method->getName() . '(' . implode(', ', $arguments) . '): ' . $method->getReturnType();
}
echo implode("\n", $known), "\n";
foreach ($class->getProperties() as $p) echo $p->isReadOnly() ? 'readonly ' : '', $p->getType(), ' $', $p->getName(), "\n";
foreach (['remove', 'removeMany', 'countOf', 'toPlain'] as $name) {
    $method = new ReflectionMethod('CountingBloomFilter', $name);
    echo $name, '(', implode(', ', array_map(fn($p) => $p->getType() . ' $' . $p->getName(), $method->getParameters())), '): ', $method->getReturnType(), "\n";
}
--EXPECT--
__construct(int|float|null $m?, int|float|null $n?, int|float|null $k?, ?float $p?, ?string $scheme?, ?string $secret?, object|string|null $storage?, ?string $key?, ?float $grow?, DateInterval|float|null $window?, ?int $shards?, ?int $parts?, DateInterval|float|null $timeout?, DateInterval|float|null $retryAfter?, bool $cache?, DateInterval|float|null $cacheMaxAge?, ?int $waitReplicas?, bool $adopt?, bool $exclusive?, ?string $overfull?, ?callable $clock?, ?array $hashes?): 
static randomSecret(): string
static plan(int|float|null $m?, int|float|null $n?, int|float|null $k?, ?float $p?, ?string $scheme?, ?string $secret?, object|string|null $storage?, ?string $key?, ?float $grow?, DateInterval|float|null $window?, ?int $shards?, ?int $parts?, DateInterval|float|null $timeout?, DateInterval|float|null $retryAfter?, bool $cache?, DateInterval|float|null $cacheMaxAge?, ?int $waitReplicas?, bool $adopt?, bool $exclusive?, ?string $overfull?, ?callable $clock?, ?array $hashes?): array
static open(object|string $storage, ?string $secret?, ?string $key?, bool $readOnly?, int|float|null $m?, int|float|null $n?, int|float|null $k?, ?float $p?, ?string $scheme?, ?float $grow?, DateInterval|float|null $window?, ?int $shards?, ?int $parts?, DateInterval|float|null $timeout?, DateInterval|float|null $retryAfter?, bool $cache?, DateInterval|float|null $cacheMaxAge?, ?int $waitReplicas?, bool $adopt?, bool $exclusive?, ?string $overfull?, ?callable $clock?, ?array $hashes?): static
add(Stringable|string|int $key): bool
addKey(Stringable|string|int $key): bool
exists(Stringable|string|int $key): bool
existKey(Stringable|string|int $key): bool
hashcode(Stringable|string|int $key): array
addMany(Traversable|array $keys): int
existMany(array $keys): array
addHashes(string $hashes): int
existHashes(string $hashes): array
addNew(array $keys): array
union(BloomFilter $other): static
intersect(BloomFilter $other): static
equals(BloomFilter $other): bool
isSubsetOf(BloomFilter $other): bool
merge(BloomFilter $other): void
unionCount(BloomFilter $other): int
intersectionCount(BloomFilter $other): int
count(): int
fillRatio(): float
fpr(): float
saturated(): bool
info(): array
clear(): void
toBytes(?string $format?): string
static fromBytes(string $bytes, ?string $secret?, ?string $format?, int|float|null $m?, int|float|null $n?, int|float|null $k?, ?float $p?, ?string $scheme?, ?callable $clock?, ?array $hashes?, ?string $overfull?): static
toRedisBloom(object|string $storage, ?string $key?): void
static fromRedisBloom(object|string $storage, ?string $key?): static
toBase64(): string
static fromBase64(string $text, ?string $secret?, ?string $format?, int|float|null $m?, int|float|null $n?, int|float|null $k?, ?float $p?, ?string $scheme?, ?callable $clock?, ?array $hashes?, ?string $overfull?): static
jsonSerialize(): 
static fromJson(array|string $json, ?callable $clock?, ?array $hashes?, ?string $overfull?): static
save( $path): void
static load( $path, ?string $secret?, ?callable $clock?, ?array $hashes?, ?string $overfull?): static
partInfo(): array
isCurrent(): bool
sync(): void
expire(DateInterval|float|null $seconds): void
rebuild(Traversable|array $keys): int
shards(): int
delete(): void
close(): void
__serialize(): array
__unserialize(array $data): void
readonly int $m
readonly int $n
readonly int $k
readonly float $p
readonly string $scheme
readonly string $bitset
readonly ?float $grow
readonly ?float $window
readonly ?int $parts
readonly bool $created
remove(Stringable|string|int $key): bool
removeMany(Traversable|array $keys): int
countOf(Stringable|string|int $key): int
toPlain(): BloomFilter
