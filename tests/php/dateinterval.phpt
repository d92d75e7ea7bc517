--TEST--
Seconds can be a DateInterval of days, hours, minutes and seconds
--FILE--
<?php require __DIR__ . '/redis.inc';
$i = fn(string $text, array $fields = []) => interval($text[0] === 'P' ? new DateInterval($text) : DateInterval::createFromDateString($text), $fields);
function interval(DateInterval $interval, array $fields): DateInterval
{
    foreach ($fields as $name => $value) $interval->$name = $value;
    return $interval;
}
class Own extends DateInterval { public function __construct() {} }
$day = new DateTime('2024-02-01');
$server = new RedisServer;
$f = new BloomFilter(n: 100, p: 0.01, storage: $server->url('f'));
$left = fn() => preg_match('/:(-?\d+)\r/', $server->say('PTTL f'), $match) ? $match[1] / 1000 : null;
$right = [[60, $i('PT1M')], [604800, $i('P1W')], [93784, $i('P1DT2H3M4S')], [86401, $i('PT86401S')], [2505601, $day->diff(new DateTime('2024-03-01T00:00:01'))], [3600, $i('1 hour')],
    [1800, $i('1 hour -1800 sec')], [1000.5, $i('PT1000S', ['f' => 0.5])], [90, 90], [90, '90']];
foreach ($right as [$seconds, $given]) {
    $f->expire($given);
    same(true, $left() > $seconds - 30 && $left() <= $seconds, "$seconds: {$left()}");
    if (!is_extension()) continue;
    same((float)$seconds, (new BloomFilter(n: 100, p: 0.01, window: $given))->window);
    same(BloomFilter::plan(n: 100, p: 0.01, window: $seconds), BloomFilter::plan(n: 100, p: 0.01, window: $given));
}
$f->expire(null);
same(-0.001, $left());
foreach ([-1, 0, -0.0, NAN] as $wrong) refused('ValueError', 'seconds', fn() => $f->expire($wrong));
$calls = ['seconds' => fn($v) => $f->expire($v), 'timeout' => fn($v) => new BloomFilter(n: 100, p: 0.01, timeout: $v)];
if (is_extension()) $calls += ['window' => fn($v) => new BloomFilter(n: 100, p: 0.01, window: $v), 'retryAfter' => fn($v) => BloomFilter::open($server->url('f'), retryAfter: $v),
    'cacheMaxAge' => fn($v) => BloomFilter::open($server->url('f'), cache: true, cacheMaxAge: $v)];
foreach ($calls as $name => $call) {
    foreach ([$i('P1M'), $i('P1Y'), $i('P1Y2D'), $i('last day of next month'), $i('3 weekdays'), $i('first day of'), $i('next weekday'), new Own] as $varies)
        refused('ValueError', "(\$$name) must be a DateInterval of days, hours, minutes and seconds", fn() => $call($varies));
    foreach (['string' => 'soon', 'array' => [], 'DateTime' => $day] as $type => $value) refused('TypeError', "(\$$name) must be of type DateInterval|float|null, $type given", fn() => $call($value));
    if ($name === 'retryAfter') continue;           # 0 is right
    foreach ([$i('PT0S'), $i('PT5S', ['invert' => 1]), $i('-5 sec'), $i('PT1S', ['f' => -3.5])] as $none) refused('ValueError', $name, fn() => $call($none));
}
if (is_extension()) {
    $f = BloomFilter::open($server->url('f'), timeout: $i('PT1M'), retryAfter: $i('PT0S'), cache: true, cacheMaxAge: $i('PT1M'));
    same(true, $f->add('x'));
}
--EXPECT--
