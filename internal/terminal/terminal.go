// Package terminal finds out about the terminal that a program writes to, and reads single keys from
// it. Read this file first, terminal.go; others are for one system each.
package terminal

import (
	"io"
	"os"
)

// Is reports whether w is a terminal that understands escape sequences. It switches them on in a
// console of Windows, which stay on: shells expect both.
func Is(w io.Writer) bool {
	return os.Getenv("TERM") != "dumb" && ask(w, understandsEscapes)
}

// Columns returns the width of the terminal w, 0 if w is no terminal or does not tell.
func Columns(w io.Writer) (n int) {
	ask(w, func(fd uintptr) bool {
		n = columns(fd)
		return true
	})
	return n
}

// ask returns the answer for the descriptor of w, false if w is no device.
func ask(w io.Writer, question func(fd uintptr) bool) (yes bool) {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	return conn.Control(func(fd uintptr) { yes = question(fd) }) == nil && yes
}
