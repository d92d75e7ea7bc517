/* threads.c - runs a PHP script in eight threads at once, each several requests after each other,
 * as a server with threads does. For a PHP with --enable-zts and --enable-embed. Arguments: a
 * php.ini, the script, its folder. The script gets $thread, $request and $dir. It sets $done = true
 * at its end, or $fatal = true before an expected fatal error, which ends its request. Exit code 0:
 * every request ended so. */
#include <sapi/embed/php_embed.h>
#include <pthread.h>
#include <stdio.h>

ZEND_TSRMLS_CACHE_DEFINE()

enum { THREADS = 8, REQUESTS = 6 };
static const char *script, *dir;
static pthread_barrier_t together;

/* Returns true if the script set $done to true, or $fatal and then ended in a fatal error. */
static bool request(long thread, int number)
{
    char code[1024];
    volatile bool good = false, ended = false;
    if (php_request_startup() == FAILURE) return false;
    SG(headers_sent) = 1;
    SG(request_info).no_headers = 1;
    snprintf(code, sizeof code,
        "$thread = %ld; $request = %d; $dir = '%s'; $done = $fatal = false; require '%s';", thread,
        number, dir, script);
    zend_first_try { zend_eval_string(code, NULL, "threads.c"); }
    zend_catch { ended = true; }
    zend_end_try();
    zval *value =
        zend_hash_str_find_ind(&EG(symbol_table), ended ? "fatal" : "done", ended ? 5 : 4);
    good = value && zend_is_true(value);
    php_request_shutdown(NULL);
    if (!good)
        fprintf(stderr, "thread %ld, request %d: %s\n", thread, number,
            ended ? "a fatal error" : "not done");
    return good;
}

static void *run(void *number)
{
    bool good = true;
    ts_resource(0);
    ZEND_TSRMLS_CACHE_UPDATE();
    for (int i = 0; i < REQUESTS; i++) {
        pthread_barrier_wait(&together);
        good &= request((long)number, i);
    }
    ts_free_thread();
    return good ? number : NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    bool good = argc == 4;
    if (!good) return 2;
    script = argv[2];
    dir = argv[3];
    php_embed_module.php_ini_path_override = argv[1];
    php_embed_module.phpinfo_as_text = 1;
    if (php_embed_init(0, NULL) == FAILURE) return 2;
    pthread_barrier_init(&together, NULL, THREADS);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        void *end;
        pthread_join(threads[i], &end);
        good &= end != NULL;
    }
    php_embed_shutdown();
    return good ? 0 : 1;
}
