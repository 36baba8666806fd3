package files

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

const (
	patience         = 5 * time.Second
	sharingViolation = syscall.Errno(32)
)

// Rename renames a file, in place of another if there is one. Windows refuses that while a
// program has the other one open, as readers and virus scanners have for a moment: Rename
// tries for some seconds.
func Rename(from, to string) error {
	err := patiently(func() error {
		err := os.Rename(from, to)
		info, statErr := os.Stat(to)
		if errors.Is(err, syscall.ERROR_ACCESS_DENIED) && statErr == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 != 0 {
			return sharingViolation
		}
		return err
	})
	if errors.Is(err, sharingViolation) {
		return errors.New("another program has it open")
	}
	return err
}

// openFile is os.OpenFile, which fails while another program replaces the file.
func openFile(name string, flag int, mode fs.FileMode) (f *os.File, err error) {
	err = patiently(func() error {
		f, err = os.OpenFile(name, flag, mode)
		return err
	})
	return f, err
}

// patiently calls f until it returns no sharing violation, for some seconds.
func patiently(f func() error) error {
	end := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := f()
		if !errors.Is(err, sharingViolation) || time.Now().After(end) {
			return err
		}
		time.Sleep(pause/2 + rand.N(pause))
	}
}
