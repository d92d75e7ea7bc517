<?php
/* The filters of bloomfilter/glue. Each setting but mode, fail, trust, source, client and counting is an argument of BloomFilter's constructor. */

return [
    'report' => null,                          // an invokable class: gets the name of a count (missing, falsePositive, failed) and the key
    'filters' => [
        // 'users' => [
        //     'n' => 1_000_000,
        //     'p' => 0.001,
        //     'storage' => storage_path('users.bloom'),
        //     'mode' => 'trust',              // or 'shadow': ask the filter and the database, and compare
        //     'fail' => 'open',               // or 'closed': if the filter fails, its keys are absent
        //     'trust' => false,               // or true: the program fills the filter by adds, not by `artisan bloom:rebuild`
        //     'source' => App\UserIds::class, // for `artisan bloom:rebuild users`: iterable, or invokable and returns an iterable
        // ],
    ],
];
