//go:build !windows

package files

import (
	"io/fs"
	"os"
)

// Rename renames a file, in place of another if there is one.
func Rename(from, to string) error { return os.Rename(from, to) }

func openFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
