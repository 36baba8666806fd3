//go:build amd64 || arm64

package dynlib

import (
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// open loads the library. Libraries such as Dawn load others by their names, so the current folder
// is removed from Windows' search for those, unless the program has set a folder in its place.
func (r request) open() (uintptr, error) {
	guard()
	h, err := windows.LoadLibraryEx(r.path, 0, r.flags)
	return uintptr(h), err
}

var guard = sync.OnceFunc(func() {
	get := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetDllDirectoryW")
	if n, _, _ := get.Call(0, 0); n <= 1 { // with the zero at its end
		windows.SetDllDirectory("")
	}
})

// Symbol returns the address of a function, or 0.
func Symbol(library uintptr, name string) uintptr {
	p, _ := syscall.GetProcAddress(syscall.Handle(library), name)
	return p
}

// LeastPause is about the least that Pause takes.
const LeastPause = 500 * time.Microsecond

// Pause sleeps.
func Pause(d time.Duration) { time.Sleep(d) }
