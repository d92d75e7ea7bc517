// seen.mjs - a filter in Node, through koffi.  npm install koffi && node seen.mjs [STORAGE]
import koffi from 'koffi';

const lib = koffi.load('libbloomfilter.so.1');
koffi.opaque('bf_filter');
koffi.struct('bf_key', { ptr: 'const void *', len: 'size_t' });
koffi.struct('bf_error', {
    code: 'int',
    sys_errno: 'int',
    msg: koffi.array('char', 160),
    key: 'size_t',
    lost: 'bool',
    reserved: koffi.array('char', 64),
});
const BF_ADDED = 1;
const oneKey = 'bf_filter *f, const void *key, size_t len, _Out_ bf_error *err';
const bf = {
    create: lib.func(`bf_filter *bf_create(uint64_t m, uint64_t n, unsigned int k, double p,
        const char *scheme, const char *storage, _Out_ bf_error *err)`),
    add: lib.func(`int bf_add(${oneKey})`),
    test: lib.func(`int bf_test(${oneKey})`),
    addMany: lib.func(`int64_t bf_add_many(bf_filter *f, const bf_key *keys, size_t n,
        uint8_t *each, _Out_ bf_error *err)`),
    close: lib.func('void bf_close(bf_filter *f)'),
};

// Negative answers and NULL are errors; the sentence is in err.
function call(name, ...args) {
    const err = {};
    const answer = bf[name](...args, err);
    if (answer === null || answer < 0) throw new Error(`error ${err.code}: ${err.msg}`);
    return answer;
}

class Filter {
    constructor(n, p, storage) {
        this.f = call('create', 0, n, 0, p, null, storage);
    }
    add(key) {
        const bytes = Buffer.from(key);
        return call('add', this.f, bytes, bytes.length) === BF_ADDED;
    }
    test(key) {
        const bytes = Buffer.from(key);
        return call('test', this.f, bytes, bytes.length) === 1;
    }
    // Adds keys in one call. Returns 1 for each new key, else 0.
    addMany(keys) {
        const list = keys.map((key) => Buffer.from(key)).map((ptr) => ({ ptr, len: ptr.length }));
        const each = new Uint8Array(keys.length);
        call('addMany', this.f, list, list.length, each);
        return each;
    }
    close() {
        bf.close(this.f);
        this.f = null;
    }
}

const storage = process.argv[2] ?? null;
const seen = new Filter(100_000, 0.001, storage);
for (const url of ['https://example.org/', 'https://example.org/']) {
    console.log(seen.add(url) ? 'new' : 'present');
}
console.log(seen.test('https://example.org/other') ? 'present' : 'absent');
console.log(seen.addMany(['a', 'b', 'a']).join(''));
seen.close();
try {
    new Filter(100, 2.0, storage);
} catch (error) {
    console.log(error.message);
}
