//go:build amd64 || arm64

package wgpu

import (
	"syscall"
	"time"
)

func openLibrary(path string) (uintptr, error) {
	h, err := syscall.LoadLibrary(path)
	return uintptr(h), err
}

// symbol returns the address of a function, 0 if there is none.
func symbol(handle uintptr, name string) uintptr {
	p, _ := syscall.GetProcAddress(syscall.Handle(handle), name)
	return p
}

// pause sleeps, for at least half a millisecond.
func pause(d time.Duration) { time.Sleep(d) }
