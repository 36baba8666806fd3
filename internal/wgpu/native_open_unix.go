//go:build (linux || darwin) && (amd64 || arm64)

package wgpu

import (
	"syscall"
	"time"

	"github.com/ebitengine/purego"
)

func openLibrary(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// symbol returns the address of a function, 0 if there is none.
func symbol(handle uintptr, name string) uintptr {
	p, _ := purego.Dlsym(handle, name)
	return p
}

// pause sleeps for microseconds; time.Sleep takes at least a millisecond in an idle
// process.
func pause(d time.Duration) {
	t := syscall.NsecToTimeval(d.Nanoseconds())
	syscall.Select(0, nil, nil, nil, &t) // a signal may end it early
}
