package terminal

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

func TestTerminal(t *testing.T) {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	size := struct{ rows, columns, width, height uint16 }{40, 123, 0, 0}
	conn.Control(func(fd uintptr) {
		syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size)))
	})
	for _, c := range []struct {
		term string
		want bool
	}{{"xterm", true}, {"", true}, {"dumb", false}} {
		t.Setenv("TERM", c.term)
		if Is(f) != c.want || Columns(f) != 123 {
			t.Errorf("with TERM=%s: Is = %v, Columns = %d, want %v, 123", c.term, Is(f), Columns(f), c.want)
		}
	}
}
