//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package files

import (
	"io/fs"
	"os"
	"time"
)

// staleAfter is the time without a write after which a temporary file counts as
// abandoned.
const staleAfter = time.Hour

// createLocked creates a new file. Windows does not remove open files; on the other
// systems here only the file's age shows that it is in use.
func createLocked(name string, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// renameLocked closes a file of createLocked and renames it.
func renameLocked(f *os.File, path string) error {
	if err := f.Close(); err != nil { // Windows does not rename open files
		return err
	}
	return Rename(f.Name(), path)
}

// removeUnlocked removes an abandoned file of createLocked.
func removeUnlocked(name string) {
	info, err := os.Lstat(name)
	if err == nil && time.Since(info.ModTime()) > staleAfter {
		os.Remove(name)
	}
}
