//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package hostmem

import (
	"encoding/binary"
	"runtime"
	"syscall"
)

// memoryNames has the sysctl that gives the machine's memory in 64 bits.
var memoryNames = map[string]string{
	"darwin":    "hw.memsize",
	"dragonfly": "hw.physmem",
	"freebsd":   "hw.physmem",
	"netbsd":    "hw.physmem64",
	"openbsd":   "hw.physmem64",
}

// systemLimit is the machine's memory.
func systemLimit() (int, bool) {
	text, err := syscall.Sysctl(memoryNames[runtime.GOOS])
	if err != nil || len(text) == 0 || len(text) > 8 {
		return 0, false
	}
	var word [8]byte // Sysctl takes a last byte of 0 for the end of a string
	copy(word[:], text)
	return int(binary.NativeEndian.Uint64(word[:])), true
}
