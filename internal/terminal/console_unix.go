//go:build linux || darwin

package terminal

import (
	"syscall"
	"unsafe"
)

// understandsEscapes reports whether a device is a terminal, unlike /dev/null.
func understandsEscapes(fd uintptr) bool {
	_, ok := size(fd)
	return ok
}

// columns returns the width of a terminal, 0 for other devices.
func columns(fd uintptr) int {
	n, _ := size(fd)
	return n
}

func size(fd uintptr) (columns int, ok bool) {
	var size struct{ rows, columns, width, height uint16 } // struct winsize
	_, _, err := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	return int(size.columns), err == 0
}
