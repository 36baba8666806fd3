//go:build !windows

package interrupttest

import (
	"os"
	"syscall"
)

// Events are the ways in which this system tells a program to stop. Each is a function that does
// so to this process.
var Events = map[string]func() error{"Ctrl-C": raise(os.Interrupt), "SIGTERM": raise(syscall.SIGTERM)}

func raise(s os.Signal) func() error {
	return func() error {
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return p.Signal(s)
	}
}
