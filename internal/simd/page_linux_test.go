package simd

import (
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// pages are some bytes of memory before a page that may not be touched, taken in turn.
var pages = struct {
	sync.Mutex
	mem  [][]byte
	next int
}{}

// endOfPage returns n elements that end where a page begins that may not be touched.
// The memory is used again after a few calls.
func endOfPage[T any](t *testing.T, n int) []T {
	const size, count = 1 << 16, 4
	pages.Lock()
	defer pages.Unlock()
	if pages.mem == nil {
		for range count {
			page := syscall.Getpagesize()
			mem, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
			if err == nil {
				err = syscall.Mprotect(mem[size:], syscall.PROT_NONE)
			}
			if err != nil {
				t.Fatal(err)
			}
			pages.mem = append(pages.mem, mem)
		}
	}
	mem := pages.mem[pages.next%count]
	pages.next++
	bytes := n * int(unsafe.Sizeof(*new(T)))
	if bytes > size {
		t.Fatalf("%d bytes before the end of a page, which has %d", bytes, size)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[size-bytes])), n)
}
