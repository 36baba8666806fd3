package cachedir

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tensorken/tensorken/internal/files"
)

// trailerLen is the length of the line that ends a file.
const trailerLen = 2*sha256.Size + 1

// trailer returns the last line of a file: a checksum of its name and its data, without which it
// could be the whole file of another name, or part of its own.
func trailer(path string, data []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", filepath.Base(path))
	h.Write(data)
	return fmt.Sprintf("%x\n", h.Sum(nil))
}

// errDamaged is the error of a file that differs from Write's.
var errDamaged = errors.New("it is damaged")

// Read returns the data of a file of Write, which Trim then counts as new. It refuses a file that
// others can change, that is damaged, or that has more than max bytes.
func Read(path string, max int) ([]byte, error) {
	path, err := Trusted(path)
	if err != nil {
		return nil, err
	}
	data, err := files.ReadAll(path, int64(max)+trailerLen)
	if err != nil {
		return nil, err
	}
	size := len(data) - trailerLen
	if size < 0 || string(data[size:]) != trailer(path, data[:size]) {
		return nil, errDamaged
	}
	const day = 24 * time.Hour
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > day {
		now := time.Now()
		os.Chtimes(path, now, now)
	}
	return data[:size], nil
}

// Write writes a file for Read into a folder that it makes if necessary. Readers find the old file
// or the whole new one. A failure leaves the old one.
func Write(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := Make(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, temporary) // for the user alone
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		_, err = io.WriteString(f, trailer(path, data))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = files.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
