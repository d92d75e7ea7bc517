#!/usr/bin/env php
<?php
/* comments.php - accepts each comment once.  All servers share a filter of the seen comments in Redis.  It refuses a comment
 * whose author pressed "Post" twice, and a text that a robot sends again and again.
 *
 *     comments.php redis://127.0.0.1/0?key=comments < comments.tsv        a line: author, a tab, the text
 *
 * Prints the accepted comments.  Each day has its own filter, which Redis deletes after two days: a comment may be repeated
 * tomorrow.  A new comment is refused with a probability of 1 in a million. */
declare(strict_types=1);

/** Ignores differences in case, white space and punctuation. */
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
    if ($seen->add(fingerprint($who, $text))) {         // true for exactly one of several simultaneous adds
        echo $line;
        $taken++;
    } else {
        $refused++;
    }
}
fprintf(STDERR, "comments: %d taken, %d refused\n", $taken, $refused);
