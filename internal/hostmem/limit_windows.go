package hostmem

import (
	"syscall"
	"unsafe"
)

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length        uint32
	load          uint32
	totalPhysical uint64
	rest          [6]uint64
}

// systemLimit is the machine's memory.
func systemLimit() (int, bool) {
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	ok, _, _ := syscall.NewLazyDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx").Call(uintptr(unsafe.Pointer(&s)))
	return int(s.totalPhysical), ok != 0
}
