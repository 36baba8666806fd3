package files

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// patience is how long a file is waited for that another program has open, as virus scanners have
// for a moment.
const patience = 5 * time.Second

// Numbers of Windows that package syscall does not name.
const (
	sharingViolation = syscall.Errno(32)
	mappedFile       = syscall.Errno(1224)
	remove           = 0x10000 // the right DELETE
)

const shareAll = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE

var errInUse = errors.New("another program has it open: close it there, and try again")

// Rename renames a file to another name in its folder, in place of a file of that name. Root.Rename
// replaces also a file that openFile's readers have open, where the file system can, as NTFS.
func Rename(from, to string) error {
	to, err := filepath.Abs(to) // without a dot at its end, which Windows ignores and Root does not
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer root.Close()
	return patiently(func() error { return refused(to, root.Rename(filepath.Base(from), filepath.Base(to))) })
}

// Remove removes a file.
func Remove(path string) error {
	return patiently(func() error { return refused(path, os.Remove(path)) })
}

// refused returns a sharing violation for other errors of replacing or removing a file that can be
// tried again: Windows denies access also to files that another program has open or mapped, and to
// read-only files, which here, as on other systems, may be replaced. A user without the right to
// remove the file gets the error itself.
func refused(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, mappedFile) {
		return err
	}
	info, statErr := os.Stat(path)
	if statErr != nil || !info.Mode().IsRegular() || info.Mode()&0o200 == 0 && os.Chmod(path, 0o600) != nil {
		return err
	}
	f, openErr := createFile(path, remove, shareAll, syscall.OPEN_EXISTING, 0)
	if errors.Is(openErr, fs.ErrPermission) {
		return err
	}
	f.Close()
	return sharingViolation
}

// patiently calls f until it returns no sharing violation, for some seconds.
func patiently(f func() error) error {
	end := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := f()
		if !errors.Is(err, sharingViolation) {
			return err
		}
		if time.Now().After(end) {
			return errInUse
		}
		time.Sleep(pause/2 + rand.N(pause))
	}
}

// openFile opens a file for reading. Others may write, rename, remove and replace it meanwhile;
// os.Open would prevent the last three.
func openFile(name string) (f *os.File, err error) {
	err = patiently(func() error {
		f, err = createFile(name, syscall.GENERIC_READ, shareAll, syscall.OPEN_EXISTING, 0)
		return err
	})
	return f, err
}

// notWrite is the sharing of a temporary file's writer, and of removeUnlocked: each fails while
// the other has the file open.
const notWrite = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_DELETE

// createLocked creates a new file, which removeUnlocked leaves until it is closed. Windows closes
// the files of a killed process.
func createLocked(name string, mode fs.FileMode) (*os.File, error) {
	attributes := uint32(syscall.FILE_ATTRIBUTE_NORMAL)
	if mode&0o200 == 0 {
		attributes = syscall.FILE_ATTRIBUTE_READONLY
	}
	return createFile(name, syscall.GENERIC_WRITE, notWrite, syscall.CREATE_NEW, attributes)
}

// removeUnlocked removes a file of createLocked that no process has open.
func removeUnlocked(name string) {
	f, err := createFile(name, syscall.GENERIC_READ, notWrite, syscall.OPEN_EXISTING, 0)
	if err != nil {
		return
	}
	defer f.Close()
	os.Remove(name)
}

func createFile(name string, access, share, create, attributes uint32) (*os.File, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err == nil {
		var h syscall.Handle
		if h, err = syscall.CreateFile(path, access, share, nil, create, attributes, 0); err == nil {
			return os.NewFile(uintptr(h), name), nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: err}
}
