<?php
namespace Bloomfilter\Glue;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** `bloom:rebuild NAME`: replaces a filter's keys by those of its source, for Symfony's console and Laravel's artisan. */
final class RebuildCommand extends Command
{
    /**
     * @param callable $filter gives the filter of a name, or null
     * @param callable $source gives the source of a name, or null: an iterable of keys, or a callable that returns one
     */
    public function __construct(private $filter, private $source)
    {
        parent::__construct('bloom:rebuild');
    }

    protected function configure(): void
    {
        $this->setDescription('Replaces the keys of a filter by those of its source')->addArgument('name', InputArgument::REQUIRED, 'The filter in bloom.yaml or config/bloom.php');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $name = $input->getArgument('name');
        $filter = ($this->filter)($name);
        $source = ($this->source)($name);
        if (!$filter || !$source) {
            $output->writeln("<error>" . ($filter ? "the filter '$name' has no source" : "there is no filter '$name'") . "</error>");
            return Command::FAILURE;
        }
        $output->writeln("$name: " . $filter->rebuild(is_iterable($source) ? $source : $source()) . ' keys');
        return Command::SUCCESS;
    }
}
