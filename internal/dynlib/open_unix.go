//go:build (linux || darwin) && (amd64 || arm64)

package dynlib

import (
	"syscall"
	"time"

	"github.com/ebitengine/purego"
)

func (r request) open() (uintptr, error) {
	return purego.Dlopen(r.path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// Symbol returns the address of a function, or 0.
func Symbol(library uintptr, name string) uintptr {
	p, _ := purego.Dlsym(library, name)
	return p
}

// LeastPause is about the least that Pause takes.
const LeastPause = 50 * time.Microsecond

// Pause sleeps for microseconds; time.Sleep takes at least a millisecond in an idle
// process.
func Pause(d time.Duration) {
	t := syscall.NsecToTimeval(d.Nanoseconds())
	syscall.Select(0, nil, nil, nil, &t) // a signal may end it early
}
