//go:build !linux

package plot

import "os"

// waitUntilRead does nothing: only Linux tells how much of a pipe is unread.
func waitUntilRead(*os.File) {}
