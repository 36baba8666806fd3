//go:build !windows

package files

import "os"

// Rename renames a file to another name in its folder, in place of a file of that name.
func Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file.
func Remove(path string) error { return os.Remove(path) }

// openFile opens a file for reading.
func openFile(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|nonblock, 0) }
