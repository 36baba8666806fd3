//go:build amd64 || arm64

package dynlib

import (
	"syscall"
	"time"
)

// Open loads the library at a path, or finds one by its name.
func Open(path string) (uintptr, error) {
	h, err := syscall.LoadLibrary(path)
	return uintptr(h), err
}

// Symbol returns the address of a function, 0 if there is none.
func Symbol(library uintptr, name string) uintptr {
	p, _ := syscall.GetProcAddress(syscall.Handle(library), name)
	return p
}

// Pause sleeps, for at least half a millisecond.
func Pause(d time.Duration) { time.Sleep(d) }
