// seen.go - a filter through cgo.  go run seen.go [STORAGE]
package main

// #cgo pkg-config: bloomfilter
// #include <bloomfilter.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
	"strings"
	"unsafe"
)

// Filter is a handle. Close it when it is no longer needed.
type Filter struct{ f *C.bf_filter }

func failed(err *C.bf_error) error {
	return fmt.Errorf("error %d: %s", int(err.code), C.GoString(&err.msg[0]))
}

// Open opens the filter in the storage, or creates it. An empty storage is process memory.
func Open(n uint64, p float64, storage string) (*Filter, error) {
	var err C.bf_error
	spec := C.bf_spec{n: C.uint64_t(n), p: C.double(p)}
	if storage != "" {
		spec.storage = C.CString(storage)
		defer C.free(unsafe.Pointer(spec.storage))
	}
	f := C.bf_open(&spec, &err)
	if f == nil {
		return nil, failed(&err)
	}
	return &Filter{f}, nil
}

// Close frees the handle.
func (filter *Filter) Close() { C.bf_close(filter.f); filter.f = nil }

func bytes(key string) (unsafe.Pointer, C.size_t) {
	if key == "" {
		return nil, 0
	}
	return unsafe.Pointer(&[]byte(key)[0]), C.size_t(len(key))
}

// Add returns true if the key is surely new.
func (filter *Filter) Add(key string) (bool, error) {
	var err C.bf_error
	ptr, size := bytes(key)
	answer := C.bf_add(filter.f, ptr, size, &err)
	if answer < 0 {
		return false, failed(&err)
	}
	return answer == C.BF_ADDED, nil
}

// Test returns false if the key is surely absent.
func (filter *Filter) Test(key string) (bool, error) {
	var err C.bf_error
	ptr, size := bytes(key)
	answer := C.bf_test(filter.f, ptr, size, &err)
	if answer < 0 {
		return false, failed(&err)
	}
	return answer == 1, nil
}

// AddMany adds keys in one call. It returns a byte 1 for each new key, else a byte 0.
func (filter *Filter) AddMany(keys []string) ([]byte, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var err C.bf_error
	// Memory of Go must not hold pointers to memory of Go when C gets it: the keys go to C's memory.
	data := C.CString(strings.Join(keys, ""))
	defer C.free(unsafe.Pointer(data))
	list, each := make([]C.bf_key, len(keys)), make([]byte, len(keys))
	at := unsafe.Pointer(data)
	for i, key := range keys {
		list[i].ptr, list[i].len = at, C.size_t(len(key))
		at = unsafe.Add(at, len(key))
	}
	answer := C.bf_add_many(
		filter.f, &list[0], C.size_t(len(keys)), (*C.uint8_t)(&each[0]), &err)
	if answer < 0 {
		return nil, failed(&err)
	}
	return each, nil
}

func must[T any](answer T, err error) T {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return answer
}

func word(yes bool, ifTrue, ifFalse string) string {
	if yes {
		return ifTrue
	}
	return ifFalse
}

func main() {
	storage := strings.Join(os.Args[1:], "")
	seen := must(Open(100000, 0.001, storage))
	defer seen.Close()
	for _, url := range []string{"https://example.org/", "https://example.org/"} {
		fmt.Println(word(must(seen.Add(url)), "new", "present"))
	}
	fmt.Println(word(must(seen.Test("https://example.org/other")), "present", "absent"))
	for _, isNew := range must(seen.AddMany([]string{"a", "b", "a"})) {
		fmt.Print(isNew)
	}
	fmt.Println()
	if _, err := Open(100, 2.0, storage); err != nil {
		fmt.Println(err)
	}
}
