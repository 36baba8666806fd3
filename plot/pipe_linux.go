package plot

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// waitUntilRead waits until the other end of a pipe has read all, at most a second.
func waitUntilRead(pipe *os.File) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		const fionread = 0x541b // bytes to read
		var unread int32
		var errno syscall.Errno
		err := conn.Control(func(fd uintptr) {
			_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, fionread, uintptr(unsafe.Pointer(&unread)))
		})
		if err != nil || errno != 0 || unread == 0 {
			return
		}
	}
}
