<?php
namespace Bloomfilter\Glue\Symfony;

use Bloomfilter\Glue\Filters;
use Bloomfilter\Glue\Gate;
use Bloomfilter\Glue\RebuildCommand;
use Symfony\Component\Config\Definition\Builder\TreeBuilder;
use Symfony\Component\Config\Definition\ConfigurationInterface;
use Symfony\Component\DependencyInjection\Argument\ServiceClosureArgument;
use Symfony\Component\DependencyInjection\Compiler\ServiceLocatorTagPass;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Extension\Extension;
use Symfony\Component\DependencyInjection\Reference;

/** For each filter NAME: services bloom.NAME and bloom.gate.NAME, autowired as `BloomFilter $name` and `Gate $name`; the only filter also by its class. */
final class BloomExtension extends Extension implements ConfigurationInterface
{
    public function getAlias(): string
    {
        return 'bloom';
    }

    public function getConfiguration(array $config, ContainerBuilder $container): ConfigurationInterface
    {
        return $this;
    }

    public function getConfigTreeBuilder(): TreeBuilder
    {
        $tree = new TreeBuilder('bloom');
        $tree->getRootNode()->children()
            ->scalarNode('report')->defaultNull()->info('an invokable service: gets the name of a count and the key')->end()
            ->arrayNode('filters')->useAttributeAsKey('name')->normalizeKeys(false)->arrayPrototype()->ignoreExtraKeys(false)->children()
                ->enumNode('mode')->values(['trust', 'shadow'])->defaultValue('trust')->end()
                ->enumNode('fail')->values(['open', 'closed'])->defaultValue('open')->end()
                ->booleanNode('trust')->defaultFalse()->info('the program fills the filter by adds')->end()
                ->scalarNode('source')->defaultNull()->info('a service: an iterable of keys, or a callable that returns one')->end()
                ->scalarNode('client')->defaultNull()->info('a service: the client object of phpredis or Predis that has the filter')->end()
            ->end()->end()->end();
        return $tree;
    }

    public function load(array $configs, ContainerBuilder $container): void
    {
        $config = $this->processConfiguration($this, $configs);
        $filters = $sources = [];
        foreach ($config['filters'] as $name => $settings) {
            if ($settings['source'] !== null) $sources[$name] = new Reference($settings['source']);
            if ($settings['client'] !== null) $settings['storage'] = new Reference($settings['client']);
            $class = empty($settings['counting']) ? \BloomFilter::class : \CountingBloomFilter::class;
            $own = array_diff_key($settings, ['client' => 1, 'source' => 1]);
            $container->register($id = "bloom.$name", $class)->setFactory([Filters::class, 'create'])->setArguments([$own]);
            $report = $config['report'] === null ? null : new Reference($config['report']);
            $container->register("bloom.gate.$name", Gate::class)->setFactory([Filters::class, 'gate'])->setArguments([
                new ServiceClosureArgument($filters[$name] = new Reference($id)), $settings['client'] === null ? $own : array_diff_key($own, ['storage' => 1]), $report]);
            foreach ([$id => \BloomFilter::class, "bloom.gate.$name" => Gate::class] as $service => $type) {
                $container->registerAliasForArgument($service, $type, $name);
                if (count($config['filters']) === 1) $container->setAlias($type, $service);
            }
        }
        $container->register(RebuildCommand::class)->addTag('console.command', ['command' => 'bloom:rebuild'])
            ->setArguments([ServiceLocatorTagPass::register($container, $filters), ServiceLocatorTagPass::register($container, $sources)]);
    }
}
