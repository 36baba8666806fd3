//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package safetensors

import (
	"io/fs"
	"os"
	"time"
)

// leftover is the time without a write after which nobody writes a file any
// more.
const leftover = time.Hour

// createLocked creates a new file. Windows removes no file that is open; other
// systems here have only its age to tell that it is in use.
func createLocked(name string, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// renameLocked closes a file of createLocked and renames it.
func renameLocked(f *os.File, path string) error {
	if err := f.Close(); err != nil { // Windows renames no file that is open
		return err
	}
	return os.Rename(f.Name(), path)
}

// removeUnlocked removes a file of createLocked that no process writes.
func removeUnlocked(name string) {
	info, err := os.Lstat(name)
	if err == nil && time.Since(info.ModTime()) > leftover {
		os.Remove(name)
	}
}
