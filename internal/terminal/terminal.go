// Package terminal finds out about the terminal that a program writes to.
package terminal

import (
	"io"
	"os"
)

// Is reports whether w is a terminal that understands escape sequences.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Columns returns the width of the terminal w, 0 if w is none or does not tell.
func Columns(w io.Writer) (n int) {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	if conn.Control(func(fd uintptr) { n = columns(fd) }) != nil {
		return 0
	}
	return n
}
