//go:build !amd64 && !arm64 && !wasm

package goroutine

import (
	"bytes"
	"runtime"
	"strconv"
)

// ID returns a number that no other goroutine has as long as the caller's runs. It is in the first line
// of the goroutine's stack trace.
func ID() uintptr {
	var trace [64]byte
	fields := bytes.Fields(trace[:runtime.Stack(trace[:], false)])
	n, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		panic("goroutine: a stack trace without the goroutine's number")
	}
	return uintptr(n)
}
