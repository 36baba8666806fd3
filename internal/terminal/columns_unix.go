//go:build linux || darwin

package terminal

import (
	"syscall"
	"unsafe"
)

// columns returns the width of a terminal, 0 if the file is not one.
func columns(fd uintptr) int {
	var size struct{ rows, columns, width, height uint16 } // struct winsize
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size))); err != 0 {
		return 0
	}
	return int(size.columns)
}
