//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safetensors

import (
	"io/fs"
	"os"
	"syscall"
)

// lock takes an flock, which ends with the process if not before. It does not
// wait.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			return err
		}
	}
}

// createLocked creates a new file, which stays locked until it is closed. Where
// the file system has no locks it is not, and then removeUnlocked can lock
// nothing either.
func createLocked(name string, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	// Before it is locked, removeUnlocked may take it for a leftover.
	if lock(f) == syscall.EWOULDBLOCK || !isNamed(f) {
		f.Close()
		return nil, fs.ErrExist
	}
	return f, nil
}

// isNamed reports whether f is still the file of its name.
func isNamed(f *os.File) bool {
	named, err := os.Lstat(f.Name())
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(named, info)
}

// renameLocked renames a file of createLocked, which is locked until that is
// done, and closes it.
func renameLocked(f *os.File, path string) error {
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return f.Close()
}

// removeUnlocked removes a file of createLocked that no process has open.
func removeUnlocked(name string) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0) // NFS locks only what can be written
	if err != nil {
		f, err = os.Open(name) // it has the mode of a target that cannot be
	}
	if err != nil {
		return
	}
	defer f.Close()
	if lock(f) == nil {
		os.Remove(name)
	}
}
