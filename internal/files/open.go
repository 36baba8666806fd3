package files

import (
	"errors"
	"io/fs"
	"os"
)

var errNotRegular = errors.New("not a regular file")

// Open opens a regular file and refuses others: opening a FIFO would block.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errNotRegular // replaced since Stat
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Reason returns err without the name of a file.
func Reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
