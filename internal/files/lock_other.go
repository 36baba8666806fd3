//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package files

import (
	"io/fs"
	"os"
	"time"
)

// staleAfter is the time without a write after which a temporary file counts as
// abandoned.
const staleAfter = time.Hour

// createLocked creates a new file. On these systems only its age shows that it is in use.
func createLocked(name string, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// removeUnlocked removes an abandoned file of createLocked.
func removeUnlocked(name string) {
	info, err := os.Lstat(name)
	if err == nil && time.Since(info.ModTime()) > staleAfter {
		os.Remove(name)
	}
}
