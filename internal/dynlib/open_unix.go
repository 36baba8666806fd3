//go:build (linux || darwin) && (amd64 || arm64)

package dynlib

import (
	"syscall"
	"time"

	"github.com/ebitengine/purego"
)

// Open loads the library at a path, or finds one by its name.
func Open(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// Symbol returns the address of a function, 0 if there is none.
func Symbol(library uintptr, name string) uintptr {
	p, _ := purego.Dlsym(library, name)
	return p
}

// Pause sleeps for microseconds; time.Sleep takes at least a millisecond in an idle
// process.
func Pause(d time.Duration) {
	t := syscall.NsecToTimeval(d.Nanoseconds())
	syscall.Select(0, nil, nil, nil, &t) // a signal may end it early
}
