package terminal

import (
	"syscall"
	"unsafe"
)

// columns returns the width of a console window, 0 if the file is not one.
func columns(fd uintptr) int {
	var info struct { // CONSOLE_SCREEN_BUFFER_INFO
		size, cursor             struct{ x, y int16 }
		attributes               uint16
		left, top, right, bottom int16
		largest                  struct{ x, y int16 }
	}
	get := syscall.NewLazyDLL("kernel32.dll").NewProc("GetConsoleScreenBufferInfo")
	if ok, _, _ := get.Call(fd, uintptr(unsafe.Pointer(&info))); ok == 0 {
		return 0
	}
	return int(info.right) - int(info.left) + 1
}
