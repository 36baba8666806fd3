package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/hostmem"
)

var errNotRegular = errors.New("not a regular file")

// Open opens a regular file and refuses others: opening a FIFO would block, and opening a
// device may act on it.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	file, err := openFile(path)
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

// ReadAll returns the contents of a regular file of at most limit bytes; a larger file is an
// error, as is one for which there is too little memory.
func ReadAll(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, tooLarge(limit)
	}
	return ReadFrom(f, info.Size(), limit)
}

// Given returns an error if a reader or a writer is nil.
func Given(rw any) error {
	if rw == nil {
		return errors.New("the reader or writer is nil")
	}
	return nil
}

// ReadFrom returns all that a reader has, at most limit bytes. size is the expected number,
// 0 if it is not known.
func ReadFrom(r io.Reader, size, limit int64) ([]byte, error) {
	const smallest = 512
	if err := Given(r); err != nil {
		return nil, err
	}
	b, err := hostmem.Grow([]byte(nil), int(min(size, math.MaxInt-smallest))+smallest)
	for err == nil {
		var n int
		n, err = r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return nil, tooLarge(limit)
		case err == nil && len(b) == cap(b):
			b, err = hostmem.Grow(b, 1)
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return b, nil
}

func tooLarge(limit int64) error {
	return fmt.Errorf("it has more than %s", hostmem.Size(int(limit)))
}

// Name returns a path for an error, in quotes if a terminal could not print it as it is: names
// may come from an index, an archive or a folder of a stranger.
func Name(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return path
	}
	return strconv.Quote(path)
}

// Quoted returns err, or an error that wraps it and whose text is quoted, if a terminal could not print
// err as it is: it may have a value of a stranger's file. Long texts are cut.
func Quoted(err error) error {
	if err == nil || len(err.Error()) <= maxError && Name(err.Error()) == err.Error() {
		return err
	}
	return quoted{err}
}

const maxError = 800

type quoted struct{ error }

func (q quoted) Error() string {
	text := q.error.Error()
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	return Name(text)
}
func (q quoted) Unwrap() error { return q.error }

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
