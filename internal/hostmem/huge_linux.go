package hostmem

import (
	"syscall"
	"unsafe"
)

// Pages of 2 MiB, where the system has them: reads in order then miss the TLB less, and in
// a virtual machine a miss walks two tables.
const (
	hugePage        = 2 << 20
	adviseHuge      = 14 // MADV_HUGEPAGE of linux/mman.h, on all architectures of Go
	adviseUnneeded  = 4  // MADV_DONTNEED: anonymous pages are given back, and are 0 at the next use
	smallestAdvised = 2 * hugePage
)

// advise asks the system for huge pages for the memory of data, if it is large. A system
// without them refuses, which changes nothing.
func advise(data []byte) {
	if len(data) < smallestAdvised {
		return
	}
	p := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	before := -p & (hugePage - 1)
	n := (uintptr(len(data)) - before) &^ (hugePage - 1)
	syscall.Madvise(data[before:][:n], adviseHuge)
}

// giveBack gives the pages of data, all 0, back to the system.
func giveBack(data []byte) {
	page := uintptr(syscall.Getpagesize())
	p := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	before := -p & (page - 1)
	syscall.Madvise(data[before:][:(uintptr(len(data))-before)&^(page-1)], adviseUnneeded)
}
