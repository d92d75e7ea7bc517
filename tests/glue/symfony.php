<?php
/* symfony.php - BloomBundle in a kernel with Symfony's FrameworkBundle. Arguments: an empty folder; the bloom.yaml and the class of docs/frameworks.md. */
require __DIR__ . '/glue.inc';
debian('Symfony/Bundle/FrameworkBundle', 'Symfony/Component/HttpKernel', 'Symfony/Component/Yaml', 'Symfony/Component/Console');
use Bloomfilter\Glue\{Gate, Symfony\BloomBundle};
use Symfony\Bundle\FrameworkBundle\Console\Application;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Kernel;

# Composer has it in every project, and Symfony 6 asks it which packages are there; here the classes say that.
if (!class_exists('Composer\InstalledVersions')) eval('namespace Composer; class InstalledVersions { public static function isInstalled(): bool { return false; } }');
[, $dir, $yaml, $class] = $argv;
$db = new Database(['7' => $ada = new User]);
class User {}
class UserRepository { public function find(string $id): ?User { return $GLOBALS['db']($id); } }

class UserIds implements IteratorAggregate { public function getIterator(): Iterator { yield from ['7', '8', '9']; } }
class BloomReport { public array $said = []; public function __invoke(string $what, string $key): void { $this->said[] = "$what $key"; } }
class Two { public function __construct(public BloomFilter $visitors, public Gate $users) {} }
class Three { public function __construct(public Gate $visitors) {} }
class TestKernel extends Kernel
{
    public function registerBundles(): iterable { return [new FrameworkBundle, new BloomBundle]; }
    public function getProjectDir(): string { return $GLOBALS['dir']; }
    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load($GLOBALS['yaml']);
        $loader->load(function (ContainerBuilder $c) {
            $c->loadFromExtension('framework', ['secret' => 's', 'test' => true, 'http_method_override' => false, 'php_errors' => ['log' => true]]);
            foreach ([App\Users::class, App\UserRepository::class, App\UserIds::class, App\BloomReport::class, Two::class, Three::class] as $service)
                if (class_exists($service)) $c->autowire($service, $service)->setPublic(true);
        });
    }
}
foreach (['User', 'UserRepository', 'UserIds', 'BloomReport'] as $name) class_alias($name, "App\\$name");
eval(file_get_contents($class));
mkdir("$dir/var");
if (getenv('MADE')) {
    $made = new BloomFilter(n: 1000000, p: 0.001);
    $made->addMany(['7', '8', '9']);
    $made->save("$dir/var/users.bloom");
}
$kernel = new TestKernel('test', false);
$application = new Application($kernel);
$application->setAutoExit(false);
$application->setCatchExceptions(false);
function command(Application $application, string ...$arguments): string
{
    $output = new BufferedOutput;
    $code = $application->run(new ArrayInput($arguments), $output);
    return "$code " . trim($output->fetch());
}
if (extension_loaded('bloomfilter')) same('0 users: 3 keys', command($application, command: 'bloom:rebuild', name: 'users'));
same("1 the filter 'visitors' has no source", command($application, command: 'bloom:rebuild', name: 'visitors'));
same("1 there is no filter 'none'", command($application, command: 'bloom:rebuild', name: 'none'));
$container = $kernel->getContainer()->get('test.service_container');
$users = $container->get(App\Users::class);
same([$ada, null, null, 2], [$users->find('7'), $users->find('8'), $users->find('x'), $db->queries]);
$two = $container->get(Two::class);
$visitors = $container->get(Three::class)->visitors;
same([100, 'trust', 'shadow', true], [$two->visitors->n, $two->users->mode, $visitors->mode, $visitors->filter() === $two->visitors]);
$visitors->ask('x', fn() => true);
same(['falsePositive 8', 'missing x'], $container->get(App\BloomReport::class)->said);
echo "end\n";
