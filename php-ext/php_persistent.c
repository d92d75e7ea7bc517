/* php_persistent.c - mapped files and filters in Redis that stay open between requests, in the
 * table BF_G(maps). Opening such a filter again costs one stat() of the path, or one round trip
 * on the existing connection. bf_is_current then checks that the name still belongs to this filter
 * and that the arguments, including the secret, match.
 *
 * A handle that was removed from the table (replaced file, lost key, least recently used, end of
 * the process) stays open while objects use it. */
#include "php_bloomfilter.h"
#include "zend_smart_str.h"
#include <stdlib.h>
#include <unistd.h>

/* ---- reference counts ---- */
php_bf_handle *php_bf_hold(bf_filter *f, bf_error *err)
{
    php_bf_handle *handle = f ? malloc(sizeof *handle) : NULL;
    if (handle) {
        *handle = (php_bf_handle){ .f = f, .refs = 1 };
        php_bf_watch(handle);
    } else if (f) {
        bf_close(f);
        *err = (bf_error){ .code = BF_ENOMEM, .msg = "out of memory", .key = BF_NO_KEY };
    }
    return handle;
}

void php_bf_release(php_bf_handle *handle)
{
    if (!handle || --handle->refs) return;
    bf_close(handle->f);
    php_bf_client_release(handle->client);
    free(handle);
}

static void forget(zval *entry) { php_bf_release(Z_PTR_P(entry)); }

void php_bf_maps_init(zend_bloomfilter_globals *globals)
{
    zend_hash_init(&globals->maps, 0, NULL, forget, true);
}

void php_bf_maps_free(zend_bloomfilter_globals *globals) { zend_hash_destroy(&globals->maps); }

/* ---- the table ---- */
zend_long php_bf_maps_open(void) { return (zend_long)zend_hash_num_elements(&BF_G(maps)); }

/* Removes the least recently used filters until one more entry is allowed. */
static void make_room(void)
{
    while (php_bf_maps_open() && php_bf_maps_open() >= BF_G(max_maps)) {
        php_bf_handle *map, *oldest = NULL;
        zend_string *name, *oldest_name = NULL;
        ZEND_HASH_FOREACH_STR_KEY_PTR(&BF_G(maps), name, map)
        {
            if (oldest && map->used >= oldest->used) continue;
            oldest = map;
            oldest_name = name;
        }
        ZEND_HASH_FOREACH_END();
        zend_hash_del(&BF_G(maps), oldest_name);
    }
}

static int drop_if_idle(zval *entry)
{
    const php_bf_handle *map = Z_PTR_P(entry);
    bf_info info;
    bf_get_info(map->f, &info);
    return map->refs == 1 && strcmp(info.home, "file") == 0 && !info.read_only
               ? ZEND_HASH_APPLY_REMOVE
               : ZEND_HASH_APPLY_KEEP;
}

/* Closes files that no object uses. While a file is open for writing, save() cannot replace the
 * file and no exclusive writer can open it. */
void php_bf_maps_drop_idle(void) { zend_hash_apply(&BF_G(maps), drop_if_idle); }

static php_bf_handle *use(php_bf_handle *handle)
{
    handle->used = ++BF_G(openings);
    handle->refs++;
    return handle;
}

static void keep(php_bf_handle *handle, const smart_str *name)
{
    make_room();
    zend_hash_str_update_ptr(&BF_G(maps), ZSTR_VAL(name->s), ZSTR_LEN(name->s), use(handle));
}

/* ---- opening ---- */
/* A handle in Redis returns "was re-created" once. So each object has a handle of its own: the
 * second object that is open at the same time uses the next entry. */
static bool is_taken(const php_bf_handle *handle)
{
    bf_info info;
    if (handle->refs == 1) return false;
    bf_get_info(handle->f, &info);
    return strcmp(info.home, "redis") == 0;
}

/* Returns the key in the table: the storage and, after a NUL, options that bf_is_current does not
 * compare. */
static smart_str name_of(const bf_spec *spec)
{
    smart_str name = { 0 };
    smart_str_appends(&name, spec->storage);
    if (spec->read_only) smart_str_appendl(&name, "\0r", 2);
    if (spec->key || spec->timeout != 0 || spec->retry_after != 0 || spec->cache ||
        spec->wait_replicas || spec->adopt || spec->overfull) {
        smart_str_appendc(&name, '\0');
        smart_str_append_printf(&name, "%u %d %d %u %.17g %.17g %.17g %s", spec->wait_replicas,
            spec->cache, spec->adopt, spec->overfull, spec->cache_max_age, spec->timeout,
            spec->retry_after, spec->key ? spec->key : "");
    }
    /* another system's bitmap does not store its parameters, so they are part of the key */
    if (spec->must_exist && spec->scheme)
        smart_str_append_printf(
            &name, "%c%s " ZEND_ULONG_FMT " %u", 0, spec->scheme, (zend_ulong)spec->m, spec->k);
    smart_str_0(&name);
    return name;
}

/* True if a file that was opened read-only because of its permissions is writable now. For root,
 * access() ignores permissions, so such a file is opened again each time. */
static bool may_write_now(const bf_filter *f, const bf_spec *spec)
{
    bf_info info;
    bf_get_info(f, &info);
    return info.read_only && !spec->read_only && VCWD_ACCESS(spec->storage, W_OK) == 0;
}

php_bf_handle *php_bf_open(const bf_spec *spec, bf_error *err)
{
    php_bf_handle *handle = NULL;
    if (spec->exclusive) php_bf_maps_drop_idle();
    /* a clock, hash functions or an exclusive writer belong to one object, so they are not kept */
    if (!spec->storage || BF_G(max_maps) <= 0 || spec->clock || spec->functions ||
        spec->exclusive) {
        handle = php_bf_hold(bf_open(spec, err), err);
        if (handle && spec->redis_client)
            handle->client = php_bf_client_hold(spec->redis_client->ctx);
        return handle;
    }
    smart_str name = name_of(spec);
    php_bf_handle *kept;
    while ((kept = zend_hash_find_ptr(&BF_G(maps), name.s)) && is_taken(kept)) {
        smart_str_appendc(&name, '+');
        smart_str_0(&name);
    }
    const int fits = kept ? bf_is_current(kept->f, spec, err) : 0;
    if (fits > 0 && !may_write_now(kept->f, spec)) {
        kept->kept = true;
        handle = use(kept);
    } else if (fits >= 0) {
        if (kept) zend_hash_del(&BF_G(maps), name.s);
        if ((handle = php_bf_hold(bf_open(spec, err), err))) keep(handle, &name);
    }
    smart_str_free(&name);
    return handle;
}
