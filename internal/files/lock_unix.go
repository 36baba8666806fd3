//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// lock acquires an flock without waiting. The lock ends with the process at the
// latest.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			return err
		}
	}
}

// createLocked creates a new file, locked until it is closed. On a file system without
// locks it is not locked, and removeUnlocked, which cannot lock either, leaves it.
func createLocked(name string, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	// Before the lock, removeUnlocked may have locked or removed the file.
	if lock(f) == syscall.EWOULDBLOCK || !isNamed(f) {
		f.Close()
		return nil, fs.ErrExist
	}
	return f, nil
}

// isNamed reports whether f's name still refers to f.
func isNamed(f *os.File) bool {
	named, err := os.Lstat(f.Name())
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(named, info)
}

// removeUnlocked removes a file of createLocked that no process has open.
func removeUnlocked(name string) {
	f, err := os.OpenFile(name, os.O_WRONLY|nonblock, 0) // NFS locks only files open for writing
	if err != nil {
		f, err = os.OpenFile(name, os.O_RDONLY|nonblock, 0) // a read-only target gives it that mode
	}
	if err != nil {
		return
	}
	defer f.Close()
	if lock(f) == nil {
		os.Remove(name)
	}
}
