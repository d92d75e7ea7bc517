#!/usr/bin/env php
<?php
/* comments.php - takes each comment once, however many servers take comments: the ones seen are a filter in Redis, which all of
 * them share.  "Post" pressed twice, or the same text sent again and again by a robot, is refused.
 *
 *     comments.php redis://127.0.0.1/0?key=comments < comments.tsv        a line: who, a tab, the text
 *
 * Prints the comments that are taken.  Each day has a filter of its own, forgotten after two days: a comment may be repeated
 * tomorrow.  With a small chance (1 in a million) a new comment is taken for a repeat. */
declare(strict_types=1);

/** Two comments are the same where nobody would see a difference. */
function fingerprint(string $who, string $text): string
{
    return "$who\0" . strtolower(preg_replace('/[\s.!?]+/u', ' ', trim($text, " \t.!?")) ?? $text);
}

function filter_of_today(string $redis): BloomFilter
{
    $f = new BloomFilter(n: 1_000_000, p: 1e-6, storage: $redis . date('-Y-m-d'), timeout: 1.0);
    $f->expire(2 * 86400);
    return $f;
}

if ($argc !== 2) {
    fwrite(STDERR, "usage: comments.php redis://HOST/DB?key=NAME < COMMENTS\n");
    exit(2);
}
$seen = filter_of_today($argv[1]);
$taken = $refused = 0;
while (($line = fgets(STDIN)) !== false) {
    [$who, $text] = explode("\t", rtrim($line, "\n"), 2) + [1 => ''];
    if ($seen->add(fingerprint($who, $text))) {         // true for exactly one of all who add it at this moment
        echo $line;
        $taken++;
    } else {
        $refused++;
    }
}
fprintf(STDERR, "comments: %d taken, %d refused\n", $taken, $refused);
