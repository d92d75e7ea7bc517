// seen.rs - a filter in Rust.  rustc seen.rs && ./seen [STORAGE]
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::ptr;

#[repr(C)]
struct BfFilter {
    _opaque: [u8; 0],
}

#[repr(C)]
struct BfKey {
    ptr: *const c_void,
    len: usize,
}

#[repr(C)]
struct BfError {
    code: c_int,
    sys_errno: c_int,
    msg: [c_char; 160],
    key: usize,
    lost: bool,
    reserved: [c_char; 64],
}

const BF_ADDED: c_int = 1;

#[link(name = "bloomfilter")]
extern "C" {
    fn bf_create(
        m: u64,
        n: u64,
        k: c_uint,
        p: f64,
        scheme: *const c_char,
        storage: *const c_char,
        err: *mut BfError,
    ) -> *mut BfFilter;
    fn bf_add(f: *mut BfFilter, key: *const c_void, len: usize, err: *mut BfError) -> c_int;
    fn bf_test(f: *mut BfFilter, key: *const c_void, len: usize, err: *mut BfError) -> c_int;
    fn bf_add_many(
        f: *mut BfFilter,
        keys: *const BfKey,
        n: usize,
        each: *mut u8,
        err: *mut BfError,
    ) -> i64;
    fn bf_close(f: *mut BfFilter);
}

impl BfError {
    fn new() -> BfError {
        BfError {
            code: 0,
            sys_errno: 0,
            msg: [0; 160],
            key: 0,
            lost: false,
            reserved: [0; 64],
        }
    }
    fn text(&self) -> String {
        let msg = unsafe { CStr::from_ptr(self.msg.as_ptr()) };
        format!("error {}: {}", self.code, msg.to_string_lossy())
    }
}

/// A handle, closed when it is dropped.  `add` takes `&mut self`, so one thread adds at a time.
struct Filter(*mut BfFilter);

impl Filter {
    fn open(n: u64, p: f64, storage: Option<&str>) -> Result<Filter, String> {
        let mut err = BfError::new();
        let path = storage.map(|path| CString::new(path).expect("no NUL in the storage"));
        let path = path.as_ref().map_or(ptr::null(), |path| path.as_ptr());
        let f = unsafe { bf_create(0, n, 0, p, ptr::null(), path, &mut err) };
        if f.is_null() {
            Err(err.text())
        } else {
            Ok(Filter(f))
        }
    }
    fn add(&mut self, key: &[u8]) -> Result<bool, String> {
        let mut err = BfError::new();
        match unsafe { bf_add(self.0, key.as_ptr().cast(), key.len(), &mut err) } {
            answer if answer < 0 => Err(err.text()),
            answer => Ok(answer == BF_ADDED),
        }
    }
    fn test(&self, key: &[u8]) -> Result<bool, String> {
        let mut err = BfError::new();
        match unsafe { bf_test(self.0, key.as_ptr().cast(), key.len(), &mut err) } {
            answer if answer < 0 => Err(err.text()),
            answer => Ok(answer == 1),
        }
    }
    /// Adds keys in one call. Returns 1 for each new key, else 0.
    fn add_many(&mut self, keys: &[&[u8]]) -> Result<Vec<u8>, String> {
        let mut err = BfError::new();
        let mut each = vec![0; keys.len()];
        let list: Vec<BfKey> = keys
            .iter()
            .map(|key| BfKey {
                ptr: key.as_ptr().cast(),
                len: key.len(),
            })
            .collect();
        let (keys, answers) = (list.as_ptr(), each.as_mut_ptr());
        match unsafe { bf_add_many(self.0, keys, list.len(), answers, &mut err) } {
            answer if answer < 0 => Err(err.text()),
            _ => Ok(each),
        }
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        unsafe { bf_close(self.0) }
    }
}

fn main() -> Result<(), String> {
    let storage = std::env::args().nth(1);
    let mut seen = Filter::open(100_000, 0.001, storage.as_deref())?;
    for url in ["https://example.org/", "https://example.org/"] {
        println!(
            "{}",
            if seen.add(url.as_bytes())? {
                "new"
            } else {
                "present"
            }
        );
    }
    let other = seen.test(b"https://example.org/other")?;
    println!("{}", if other { "present" } else { "absent" });
    for new in seen.add_many(&[b"a", b"b", b"a"])? {
        print!("{new}");
    }
    println!();
    if let Err(text) = Filter::open(100, 2.0, storage.as_deref()) {
        println!("{text}");
    }
    Ok(())
}
