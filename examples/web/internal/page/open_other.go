//go:build !js

package page

import "os"

// Open connects the program with its page. From now on messages are received.
func Open() *Port { return Lines(os.Stdin, os.Stdout) }
