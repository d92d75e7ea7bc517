/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: e063ac31f594579ab4f6d05a70121dd0fcd75609 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_BloomFilter___construct, 0, 0, 0)
	ZEND_ARG_TYPE_MASK(0, m, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, n, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, k, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, p, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, scheme, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, secret, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_MASK(0, storage, MAY_BE_STRING|MAY_BE_OBJECT|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, key, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, grow, IS_DOUBLE, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, window, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, shards, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, parts, IS_LONG, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryAfter, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, cache, _IS_BOOL, 0, "false")
	ZEND_ARG_OBJ_TYPE_MASK(0, cacheMaxAge, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, waitReplicas, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, adopt, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, exclusive, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, overfull, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clock, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashes, IS_ARRAY, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_randomSecret, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_plan, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_MASK(0, m, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, n, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, k, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, p, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, scheme, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, secret, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_MASK(0, storage, MAY_BE_STRING|MAY_BE_OBJECT|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, key, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, grow, IS_DOUBLE, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, window, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, shards, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, parts, IS_LONG, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryAfter, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, cache, _IS_BOOL, 0, "false")
	ZEND_ARG_OBJ_TYPE_MASK(0, cacheMaxAge, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, waitReplicas, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, adopt, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, exclusive, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, overfull, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clock, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashes, IS_ARRAY, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_open, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_MASK(0, storage, MAY_BE_STRING|MAY_BE_OBJECT, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, secret, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, key, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, readOnly, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_MASK(0, m, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, n, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, k, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, p, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, scheme, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, grow, IS_DOUBLE, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, window, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, shards, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, parts, IS_LONG, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, timeout, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, retryAfter, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, cache, _IS_BOOL, 0, "false")
	ZEND_ARG_OBJ_TYPE_MASK(0, cacheMaxAge, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, waitReplicas, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, adopt, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, exclusive, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, overfull, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clock, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashes, IS_ARRAY, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_add, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, key, Stringable, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_BloomFilter_addKey arginfo_class_BloomFilter_add

#define arginfo_class_BloomFilter_exists arginfo_class_BloomFilter_add

#define arginfo_class_BloomFilter_existKey arginfo_class_BloomFilter_add

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_hashcode, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, key, Stringable, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_addMany, 0, 1, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, keys, Traversable, MAY_BE_ARRAY, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_existMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_addHashes, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, hashes, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_existHashes, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, hashes, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_BloomFilter_addNew arginfo_class_BloomFilter_existMany

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_union, 0, 1, IS_STATIC, 0)
	ZEND_ARG_OBJ_INFO(0, other, BloomFilter, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_BloomFilter_intersect arginfo_class_BloomFilter_union

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_equals, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, other, BloomFilter, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_BloomFilter_isSubsetOf arginfo_class_BloomFilter_equals

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_merge, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, other, BloomFilter, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_unionCount, 0, 1, IS_LONG, 0)
	ZEND_ARG_OBJ_INFO(0, other, BloomFilter, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_BloomFilter_intersectionCount arginfo_class_BloomFilter_unionCount

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_count, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_fillRatio, 0, 0, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_BloomFilter_fpr arginfo_class_BloomFilter_fillRatio

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_saturated, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_info, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_clear, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_toBytes, 0, 0, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, format, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_fromBytes, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO(0, bytes, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, secret, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, format, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_MASK(0, m, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, n, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, k, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, p, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, scheme, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clock, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashes, IS_ARRAY, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, overfull, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_toRedisBloom, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_MASK(0, storage, MAY_BE_STRING|MAY_BE_OBJECT, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, key, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_fromRedisBloom, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_MASK(0, storage, MAY_BE_STRING|MAY_BE_OBJECT, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, key, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_BloomFilter_toBase64 arginfo_class_BloomFilter_randomSecret

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_fromBase64, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO(0, text, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, secret, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, format, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_MASK(0, m, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, n, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, k, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, p, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, scheme, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clock, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashes, IS_ARRAY, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, overfull, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_jsonSerialize, 0, 0, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_fromJson, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_MASK(0, json, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clock, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashes, IS_ARRAY, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, overfull, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_INFO(0, path)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_load, 0, 1, IS_STATIC, 0)
	ZEND_ARG_INFO(0, path)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, secret, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clock, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, hashes, IS_ARRAY, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, overfull, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_BloomFilter_partInfo arginfo_class_BloomFilter_info

#define arginfo_class_BloomFilter_isCurrent arginfo_class_BloomFilter_saturated

#define arginfo_class_BloomFilter_sync arginfo_class_BloomFilter_clear

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter_expire, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, seconds, DateInterval, MAY_BE_DOUBLE|MAY_BE_NULL, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_BloomFilter_rebuild arginfo_class_BloomFilter_addMany

#define arginfo_class_BloomFilter_shards arginfo_class_BloomFilter_count

#define arginfo_class_BloomFilter_delete arginfo_class_BloomFilter_clear

#define arginfo_class_BloomFilter_close arginfo_class_BloomFilter_clear

#define arginfo_class_BloomFilter___serialize arginfo_class_BloomFilter_info

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_BloomFilter___unserialize, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, data, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_CountingBloomFilter_remove arginfo_class_BloomFilter_add

#define arginfo_class_CountingBloomFilter_removeMany arginfo_class_BloomFilter_addMany

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_CountingBloomFilter_countOf, 0, 1, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, key, Stringable, MAY_BE_STRING|MAY_BE_LONG, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_CountingBloomFilter_toPlain, 0, 0, BloomFilter, 0)
ZEND_END_ARG_INFO()


ZEND_METHOD(BloomFilter, __construct);
ZEND_METHOD(BloomFilter, randomSecret);
ZEND_METHOD(BloomFilter, plan);
ZEND_METHOD(BloomFilter, open);
ZEND_METHOD(BloomFilter, add);
ZEND_METHOD(BloomFilter, exists);
ZEND_METHOD(BloomFilter, hashcode);
ZEND_METHOD(BloomFilter, addMany);
ZEND_METHOD(BloomFilter, existMany);
ZEND_METHOD(BloomFilter, addHashes);
ZEND_METHOD(BloomFilter, existHashes);
ZEND_METHOD(BloomFilter, addNew);
ZEND_METHOD(BloomFilter, union);
ZEND_METHOD(BloomFilter, intersect);
ZEND_METHOD(BloomFilter, equals);
ZEND_METHOD(BloomFilter, isSubsetOf);
ZEND_METHOD(BloomFilter, merge);
ZEND_METHOD(BloomFilter, unionCount);
ZEND_METHOD(BloomFilter, intersectionCount);
ZEND_METHOD(BloomFilter, count);
ZEND_METHOD(BloomFilter, fillRatio);
ZEND_METHOD(BloomFilter, fpr);
ZEND_METHOD(BloomFilter, saturated);
ZEND_METHOD(BloomFilter, info);
ZEND_METHOD(BloomFilter, clear);
ZEND_METHOD(BloomFilter, toBytes);
ZEND_METHOD(BloomFilter, fromBytes);
ZEND_METHOD(BloomFilter, toRedisBloom);
ZEND_METHOD(BloomFilter, fromRedisBloom);
ZEND_METHOD(BloomFilter, toBase64);
ZEND_METHOD(BloomFilter, fromBase64);
ZEND_METHOD(BloomFilter, jsonSerialize);
ZEND_METHOD(BloomFilter, fromJson);
ZEND_METHOD(BloomFilter, save);
ZEND_METHOD(BloomFilter, load);
ZEND_METHOD(BloomFilter, partInfo);
ZEND_METHOD(BloomFilter, isCurrent);
ZEND_METHOD(BloomFilter, sync);
ZEND_METHOD(BloomFilter, expire);
ZEND_METHOD(BloomFilter, rebuild);
ZEND_METHOD(BloomFilter, shards);
ZEND_METHOD(BloomFilter, delete);
ZEND_METHOD(BloomFilter, close);
ZEND_METHOD(BloomFilter, __serialize);
ZEND_METHOD(BloomFilter, __unserialize);
ZEND_METHOD(CountingBloomFilter, remove);
ZEND_METHOD(CountingBloomFilter, removeMany);
ZEND_METHOD(CountingBloomFilter, countOf);
ZEND_METHOD(CountingBloomFilter, toPlain);


static const zend_function_entry class_BloomFilter_methods[] = {
	ZEND_ME(BloomFilter, __construct, arginfo_class_BloomFilter___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, randomSecret, arginfo_class_BloomFilter_randomSecret, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(BloomFilter, plan, arginfo_class_BloomFilter_plan, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(BloomFilter, open, arginfo_class_BloomFilter_open, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(BloomFilter, add, arginfo_class_BloomFilter_add, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(BloomFilter, addKey, add, arginfo_class_BloomFilter_addKey, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, exists, arginfo_class_BloomFilter_exists, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(BloomFilter, existKey, exists, arginfo_class_BloomFilter_existKey, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, hashcode, arginfo_class_BloomFilter_hashcode, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, addMany, arginfo_class_BloomFilter_addMany, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, existMany, arginfo_class_BloomFilter_existMany, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, addHashes, arginfo_class_BloomFilter_addHashes, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, existHashes, arginfo_class_BloomFilter_existHashes, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, addNew, arginfo_class_BloomFilter_addNew, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, union, arginfo_class_BloomFilter_union, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, intersect, arginfo_class_BloomFilter_intersect, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, equals, arginfo_class_BloomFilter_equals, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, isSubsetOf, arginfo_class_BloomFilter_isSubsetOf, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, merge, arginfo_class_BloomFilter_merge, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, unionCount, arginfo_class_BloomFilter_unionCount, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, intersectionCount, arginfo_class_BloomFilter_intersectionCount, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, count, arginfo_class_BloomFilter_count, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, fillRatio, arginfo_class_BloomFilter_fillRatio, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, fpr, arginfo_class_BloomFilter_fpr, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, saturated, arginfo_class_BloomFilter_saturated, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, info, arginfo_class_BloomFilter_info, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, clear, arginfo_class_BloomFilter_clear, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, toBytes, arginfo_class_BloomFilter_toBytes, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, fromBytes, arginfo_class_BloomFilter_fromBytes, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(BloomFilter, toRedisBloom, arginfo_class_BloomFilter_toRedisBloom, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, fromRedisBloom, arginfo_class_BloomFilter_fromRedisBloom, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(BloomFilter, toBase64, arginfo_class_BloomFilter_toBase64, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, fromBase64, arginfo_class_BloomFilter_fromBase64, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(BloomFilter, jsonSerialize, arginfo_class_BloomFilter_jsonSerialize, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, fromJson, arginfo_class_BloomFilter_fromJson, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(BloomFilter, save, arginfo_class_BloomFilter_save, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, load, arginfo_class_BloomFilter_load, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(BloomFilter, partInfo, arginfo_class_BloomFilter_partInfo, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, isCurrent, arginfo_class_BloomFilter_isCurrent, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, sync, arginfo_class_BloomFilter_sync, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, expire, arginfo_class_BloomFilter_expire, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, rebuild, arginfo_class_BloomFilter_rebuild, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, shards, arginfo_class_BloomFilter_shards, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, delete, arginfo_class_BloomFilter_delete, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, close, arginfo_class_BloomFilter_close, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, __serialize, arginfo_class_BloomFilter___serialize, ZEND_ACC_PUBLIC)
	ZEND_ME(BloomFilter, __unserialize, arginfo_class_BloomFilter___unserialize, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_CountingBloomFilter_methods[] = {
	ZEND_ME(CountingBloomFilter, remove, arginfo_class_CountingBloomFilter_remove, ZEND_ACC_PUBLIC)
	ZEND_ME(CountingBloomFilter, removeMany, arginfo_class_CountingBloomFilter_removeMany, ZEND_ACC_PUBLIC)
	ZEND_ME(CountingBloomFilter, countOf, arginfo_class_CountingBloomFilter_countOf, ZEND_ACC_PUBLIC)
	ZEND_ME(CountingBloomFilter, toPlain, arginfo_class_CountingBloomFilter_toPlain, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_BloomFilterException_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_BloomFilter(zend_class_entry *class_entry_Countable, zend_class_entry *class_entry_JsonSerializable)
{
	zend_class_entry ce, *class_entry;

	INIT_CLASS_ENTRY(ce, "BloomFilter", class_BloomFilter_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NO_DYNAMIC_PROPERTIES;
	zend_class_implements(class_entry, 2, class_entry_Countable, class_entry_JsonSerializable);

	zval property_m_default_value;
	ZVAL_UNDEF(&property_m_default_value);
	zend_string *property_m_name = zend_string_init("m", sizeof("m") - 1, 1);
	zend_declare_typed_property(class_entry, property_m_name, &property_m_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_m_name);

	zval property_n_default_value;
	ZVAL_UNDEF(&property_n_default_value);
	zend_string *property_n_name = zend_string_init("n", sizeof("n") - 1, 1);
	zend_declare_typed_property(class_entry, property_n_name, &property_n_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_n_name);

	zval property_k_default_value;
	ZVAL_UNDEF(&property_k_default_value);
	zend_string *property_k_name = zend_string_init("k", sizeof("k") - 1, 1);
	zend_declare_typed_property(class_entry, property_k_name, &property_k_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_k_name);

	zval property_p_default_value;
	ZVAL_UNDEF(&property_p_default_value);
	zend_string *property_p_name = zend_string_init("p", sizeof("p") - 1, 1);
	zend_declare_typed_property(class_entry, property_p_name, &property_p_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_p_name);

	zval property_scheme_default_value;
	ZVAL_UNDEF(&property_scheme_default_value);
	zend_string *property_scheme_name = zend_string_init("scheme", sizeof("scheme") - 1, 1);
	zend_declare_typed_property(class_entry, property_scheme_name, &property_scheme_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_scheme_name);

	zval property_bitset_default_value;
	ZVAL_UNDEF(&property_bitset_default_value);
	zend_string *property_bitset_name = zend_string_init("bitset", sizeof("bitset") - 1, 1);
	zend_declare_typed_property(class_entry, property_bitset_name, &property_bitset_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_bitset_name);

	zval property_grow_default_value;
	ZVAL_UNDEF(&property_grow_default_value);
	zend_string *property_grow_name = zend_string_init("grow", sizeof("grow") - 1, 1);
	zend_declare_typed_property(class_entry, property_grow_name, &property_grow_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_grow_name);

	zval property_window_default_value;
	ZVAL_UNDEF(&property_window_default_value);
	zend_string *property_window_name = zend_string_init("window", sizeof("window") - 1, 1);
	zend_declare_typed_property(class_entry, property_window_name, &property_window_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_window_name);

	zval property_parts_default_value;
	ZVAL_UNDEF(&property_parts_default_value);
	zend_string *property_parts_name = zend_string_init("parts", sizeof("parts") - 1, 1);
	zend_declare_typed_property(class_entry, property_parts_name, &property_parts_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_parts_name);

	zval property_created_default_value;
	ZVAL_UNDEF(&property_created_default_value);
	zend_string *property_created_name = zend_string_init("created", sizeof("created") - 1, 1);
	zend_declare_typed_property(class_entry, property_created_name, &property_created_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_created_name);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 5, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 6, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "plan", sizeof("plan") - 1), 5, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "plan", sizeof("plan") - 1), 6, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "open", sizeof("open") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "open", sizeof("open") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "frombytes", sizeof("frombytes") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "toredisbloom", sizeof("toredisbloom") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "fromredisbloom", sizeof("fromredisbloom") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "frombase64", sizeof("frombase64") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "save", sizeof("save") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "load", sizeof("load") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "load", sizeof("load") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_CountingBloomFilter(zend_class_entry *class_entry_BloomFilter)
{
	zend_class_entry ce, *class_entry;

	INIT_CLASS_ENTRY(ce, "CountingBloomFilter", class_CountingBloomFilter_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_BloomFilter);
	class_entry->ce_flags |= ZEND_ACC_NO_DYNAMIC_PROPERTIES;

	return class_entry;
}

static zend_class_entry *register_class_BloomFilterException(zend_class_entry *class_entry_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_CLASS_ENTRY(ce, "BloomFilterException", class_BloomFilterException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);

	zval const_CLOSED_value;
	ZVAL_LONG(&const_CLOSED_value, 0);
	zend_string *const_CLOSED_name = zend_string_init_interned("CLOSED", sizeof("CLOSED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_CLOSED_name, &const_CLOSED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_CLOSED_name);

	zval const_NO_MEMORY_value;
	ZVAL_LONG(&const_NO_MEMORY_value, -2);
	zend_string *const_NO_MEMORY_name = zend_string_init_interned("NO_MEMORY", sizeof("NO_MEMORY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_NO_MEMORY_name, &const_NO_MEMORY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_NO_MEMORY_name);

	zval const_IO_value;
	ZVAL_LONG(&const_IO_value, -3);
	zend_string *const_IO_name = zend_string_init_interned("IO", sizeof("IO") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_IO_name, &const_IO_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_IO_name);

	zval const_FORMAT_value;
	ZVAL_LONG(&const_FORMAT_value, -4);
	zend_string *const_FORMAT_name = zend_string_init_interned("FORMAT", sizeof("FORMAT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_FORMAT_name, &const_FORMAT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_FORMAT_name);

	zval const_MISMATCH_value;
	ZVAL_LONG(&const_MISMATCH_value, -5);
	zend_string *const_MISMATCH_name = zend_string_init_interned("MISMATCH", sizeof("MISMATCH") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_MISMATCH_name, &const_MISMATCH_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_MISMATCH_name);

	zval const_NOT_SUPPORTED_value;
	ZVAL_LONG(&const_NOT_SUPPORTED_value, -6);
	zend_string *const_NOT_SUPPORTED_name = zend_string_init_interned("NOT_SUPPORTED", sizeof("NOT_SUPPORTED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_NOT_SUPPORTED_name, &const_NOT_SUPPORTED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_NOT_SUPPORTED_name);

	zval const_BUSY_value;
	ZVAL_LONG(&const_BUSY_value, -8);
	zend_string *const_BUSY_name = zend_string_init_interned("BUSY", sizeof("BUSY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_BUSY_name, &const_BUSY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_BUSY_name);

	zval const_NOT_FOUND_value;
	ZVAL_LONG(&const_NOT_FOUND_value, -9);
	zend_string *const_NOT_FOUND_name = zend_string_init_interned("NOT_FOUND", sizeof("NOT_FOUND") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_NOT_FOUND_name, &const_NOT_FOUND_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_NOT_FOUND_name);

	zval const_LOST_value;
	ZVAL_LONG(&const_LOST_value, -10);
	zend_string *const_LOST_name = zend_string_init_interned("LOST", sizeof("LOST") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_LOST_name, &const_LOST_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_LOST_name);

	zval const_FULL_value;
	ZVAL_LONG(&const_FULL_value, -11);
	zend_string *const_FULL_name = zend_string_init_interned("FULL", sizeof("FULL") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_FULL_name, &const_FULL_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_FULL_name);

	return class_entry;
}
