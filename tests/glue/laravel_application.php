<?php
/* laravel_application.php - a whole Laravel: packages that are found, configuration that is published, requests, artisan, Laravel's Redis through
 * Predis. Arguments: an empty folder; config/bloom.php and the rules of docs/frameworks.md; php-glue. */
require __DIR__ . '/glue.inc';
require __DIR__ . '/../php/redis.inc';
require '/usr/share/php/Illuminate/autoload.php';
spl_autoload_register(function (string $class) {
    $file = '/usr/share/php/' . strtr($class, '\\', '/') . '.php';
    if (str_starts_with($class, 'Illuminate\\Foundation\\') && is_file($file)) require $file;
});
require_once '/usr/share/php/Illuminate/Foundation/helpers.php';
require_once '/usr/share/php/Predis/autoload.php';
use Illuminate\Contracts\{Console\Kernel as Artisan, Debug\ExceptionHandler, Http\Kernel};
use Illuminate\Foundation\Application;
use Illuminate\Http\Request;
use Illuminate\Support\ServiceProvider;
use Symfony\Component\Console\{Input\ArrayInput, Output\BufferedOutput};

[, $dir, $config, $rules, $glue] = $argv;
$db = new Database(['7' => 'Ada']);
class UserIds { public function __invoke(): iterable { yield from ['7', '8', '9']; } }
class User { public static function find(string $id): mixed { return $GLOBALS['db']($id); } }
class_alias(UserIds::class, 'App\\UserIds');
$server = new RedisServer;
foreach (['bootstrap/cache', 'config', 'storage/framework/views', 'storage/logs', 'vendor/composer'] as $folder) mkdir("$dir/$folder", recursive: true);
$put = fn(string $name, array $settings) => file_put_contents("$dir/config/$name.php", '<?php return ' . var_export($settings, true) . ';');
$put('app', ['name' => 'Test', 'env' => 'production', 'debug' => false, 'key' => 'base64:' . base64_encode(str_repeat('k', 32)), 'cipher' => 'AES-256-CBC', 'locale' => 'en', 'fallback_locale' => 'en',
    'timezone' => 'UTC', 'providers' => ServiceProvider::defaultProviders()->toArray(), 'aliases' => []]);
$put('logging', ['default' => 'single', 'channels' => ['single' => ['driver' => 'single', 'path' => "$dir/storage/logs/laravel.log"]]]);
$put('view', ['paths' => [], 'compiled' => "$dir/storage/framework/views"]);
$put('cache', ['default' => 'array', 'stores' => ['array' => ['driver' => 'array']]]);
$put('session', ['driver' => 'array', 'lifetime' => 60, 'cookie' => 'test']);
$put('database', ['default' => null, 'connections' => [], 'redis' => ['client' => 'predis', 'options' => ['prefix' => 'laravel:'], 'default' => ['host' => '127.0.0.1', 'port' => $server->port, 'database' => 0]]]);
file_put_contents("$dir/bootstrap/app.php", '<?php return application(' . var_export($dir, true) . ');');
# as Composer writes it
file_put_contents("$dir/composer.json", '{}');
file_put_contents("$dir/vendor/composer/installed.json", json_encode(['packages' => [json_decode(file_get_contents("$glue/composer.json"), true)]]));

function application(string $dir): Application
{
    $app = new Application($dir);
    $app->singleton(Kernel::class, Illuminate\Foundation\Http\Kernel::class);
    $app->singleton(Artisan::class, Illuminate\Foundation\Console\Kernel::class);
    $app->singleton(ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
    return $app;
}
function artisan(Application $app, string $command, array $arguments = []): array
{
    $output = new BufferedOutput;
    $code = $app->make(Artisan::class)->handle(new ArrayInput(['command' => $command, ...$arguments]), $output);
    return [$code, trim($output->fetch())];
}
function get(Application $app, array $query): array
{
    $answer = $app->make(Kernel::class)->handle(Request::create('/users', 'GET', $query, server: ['HTTP_ACCEPT' => 'application/json']));
    return [$answer->getStatusCode(), json_decode($answer->getContent(), true)['errors'] ?? $answer->getContent()];
}

# the configuration of the package, published; then that of the page, and a filter in Laravel's Redis
$app = application($dir);
[$code, $said] = artisan($app, 'vendor:publish', ['--tag' => 'bloom-config']);
same([0, true, file_get_contents("$glue/config/bloom.php")], [$code, str_contains($said, 'config/bloom.php'), @file_get_contents("$dir/config/bloom.php")], $said);
$in_redis = "['client' => 'default', 'key' => 'visitors', 'n' => 1000, 'p' => 0.001, 'source' => App\\UserIds::class]";
file_put_contents("$dir/config/bloom.php", "<?php\n" . str_replace("'filters' => [", "'filters' => [\n        'visitors' => $in_redis,", file_get_contents($config)));

$app = application($dir);
same([0, 'users: 3 keys'], artisan($app, 'bloom:rebuild', ['name' => 'users']));
same([0, 'visitors: 3 keys'], artisan($app, 'bloom:rebuild', ['name' => 'visitors']));
same([1, "there is no filter 'none'"], artisan($app, 'bloom:rebuild', ['name' => 'none']));
same([true, false], [str_contains(artisan($app, 'list')[1], 'bloom:rebuild'), str_contains(artisan($app, 'list', ['namespace' => 'cache'])[1], 'bloom:rebuild')]);

# requests, in an application of their own, as with PHP-FPM
$app = application($dir);
$app->booted(fn() => $app['router']->get('/users', function (Request $request) use ($rules) {
    eval(file_get_contents($rules));
    return 'known';
}));
$app->booted(fn() => $app['router']->get('/visitors', fn(Request $request) => $request->validate(['id' => 'bloom:visitors']) ? 'seen' : ''));
if (!extension_loaded('bloomfilter')) artisan($app, 'bloom:rebuild', ['name' => 'users']);      # the filter is in memory
$wrong = fn(string $name) => ["The selected $name is invalid."];
same([200, 'known'], get($app, ['friend' => '9', 'user' => '7']));
same([422, ['friend' => $wrong('friend')]], get($app, ['friend' => 'x', 'user' => '7']));
same([422, ['user' => $wrong('user')]], get($app, ['friend' => '7', 'user' => '8']));
same([422, ['user' => $wrong('user')]], get($app, ['friend' => '7', 'user' => 'absent']));
same(3, $db->queries);
same([true, false], [$app['bloom.visitors']->exists('8'), $app['bloom.visitors']->exists('x')]);
same([true, ':1'], [$app['bloom.gate.users'] instanceof Bloomfilter\Glue\Gate, trim(explode("\n", $server->say('EXISTS laravel:visitors'))[0])]);
same('Predis\\Client', get_class($app['redis']->connection()->client()));
$ask = fn(string $id) => $app->make(Kernel::class)->handle(Request::create('/visitors', 'GET', ['id' => $id], server: ['HTTP_ACCEPT' => 'application/json']))->getStatusCode();
same([200, 422], [$ask('8'), $ask('x')]);
# an application whose configuration is cached
[$code, $said] = artisan(application($dir), 'config:cache');
same([0, true], [$code, is_file("$dir/bootstrap/cache/config.php")], $said);
same([0, 'users: 3 keys'], artisan(application($dir), 'bloom:rebuild', ['name' => 'users']));
echo "end\n";
