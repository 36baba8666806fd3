package data

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// maxLine is the most bytes of a line that Lines and JSONLines take.
const maxLine = 64 << 20

// Lines returns the stream of the lines of text files, one file after the other, without
// their ends, which are \n or \r\n. A byte order mark of UTF-8 at the start of a file is
// skipped, one of UTF-16 or UTF-32 is an error. Errors name the file. A line of more than
// 64 MiB is an error; [LinesUpTo] has another limit.
func Lines(paths ...string) Stream[string] { return LinesUpTo(maxLine, paths...) }

// LinesUpTo is [Lines] for lines of at most maxBytes bytes; it panics with a
// [*tensor.Error] if that is below 1.
func LinesUpTo(maxBytes int, paths ...string) Stream[string] {
	return eachLine("LinesUpTo", maxBytes, paths, func(text []byte) (string, bool, error) { return string(text), true, nil })
}

// JSONLines returns the stream of values of type T that files have as JSON, one a line;
// empty lines are skipped. See package encoding/json for how fields of T are named; a
// tensor is an object of shape and values. Files are read as [Lines] reads them, and
// [JSONLinesUpTo] has another limit for lines. Errors name file and line.
func JSONLines[T any](paths ...string) Stream[T] { return JSONLinesUpTo[T](maxLine, paths...) }

// JSONLinesUpTo is [JSONLines] for lines of at most maxBytes bytes; it panics with a
// [*tensor.Error] if that is below 1.
func JSONLinesUpTo[T any](maxBytes int, paths ...string) Stream[T] {
	// memory is how many bytes a byte of JSON may take as a value.
	const memory = 32
	return eachLine("JSONLinesUpTo", maxBytes, paths, func(text []byte) (x T, ok bool, err error) {
		if len(bytes.TrimSpace(text)) == 0 {
			return x, false, nil
		}
		if err = hostmem.Check(len(text), memory); err == nil {
			err = json.Unmarshal(text, &x)
		}
		return x, true, err
	})
}

// eachLine returns the stream of the values that parse makes of lines; a line for which parse
// reports false has none. op is the function that has the limit maxBytes.
func eachLine[T any](op string, maxBytes int, paths []string, parse func(text []byte) (x T, ok bool, err error)) Stream[T] {
	if maxBytes < 1 {
		misuse(op, fmt.Sprintf("lines of at most %d bytes: want at least 1", maxBytes))
	}
	return func(context.Context, int) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			for _, path := range paths {
				for l, err := range linesOf(path, op, maxBytes) {
					var x T
					ok := true
					if err == nil {
						if x, ok, err = parse(l.text); err != nil {
							err = fmt.Errorf("%s:%d: %w", files.Name(path), l.number, err)
						}
					}
					if ok && !yield(x, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// A line is a line of a file, counted from 1. The text is valid until the next line.
type line struct {
	text   []byte
	number int
}

// linesOf yields the lines of a file, of at most maxBytes bytes, which op sets.
func linesOf(path, op string, maxBytes int) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		f, err := files.Open(path)
		if err != nil {
			yield(line{}, fmt.Errorf("%s: %w", files.Name(path), files.Reason(err)))
			return
		}
		defer f.Close()
		r := lineReader{Reader: bufio.NewReaderSize(f, 1<<16), op: op, maxBytes: maxBytes}
		err = r.skipMark()
		for n := 1; ; n++ {
			var text []byte
			if err == nil {
				text, err = r.next()
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				err = fmt.Errorf("%s:%d: %w", files.Name(path), n, files.Reason(err))
			}
			if !yield(line{text, n}, err) || err != nil {
				return
			}
		}
	}
}

// A lineReader reads lines of limited length.
type lineReader struct {
	*bufio.Reader
	op       string // the function that has the limit
	maxBytes int
	long     []byte // a line that the buffer of Reader has no room for
}

// foreignMarks are the byte order marks of encodings other than UTF-8.
var foreignMarks = []struct{ bytes, encoding string }{
	{"\xff\xfe\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"},
}

// skipMark skips a byte order mark of UTF-8; another one is an error.
func (r *lineReader) skipMark() error {
	const mark = "\xef\xbb\xbf"
	start, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return err
	}
	for _, m := range foreignMarks {
		if bytes.HasPrefix(start, []byte(m.bytes)) {
			return fmt.Errorf("the file begins with the byte order mark of %s: convert it to UTF-8", m.encoding)
		}
	}
	if bytes.HasPrefix(start, []byte(mark)) {
		_, err = r.Discard(len(mark))
		return err
	}
	return nil
}

// next returns the next line without its end, or io.EOF. It is valid until the next call.
func (r *lineReader) next() ([]byte, error) {
	text, err := r.ReadSlice('\n')
	for r.long = r.long[:0]; err == bufio.ErrBufferFull && len(r.long) <= r.maxBytes; {
		if r.long, err = hostmem.Grow(r.long, len(text)); err != nil {
			return nil, err
		}
		r.long = append(r.long, text...)
		text, err = r.ReadSlice('\n')
	}
	if len(r.long) > 0 {
		r.long = append(r.long, text...)
		text = r.long
	}
	if err != nil && err != bufio.ErrBufferFull && (err != io.EOF || len(text) == 0) {
		return nil, err
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if len(text) > r.maxBytes {
		return nil, fmt.Errorf("the line has more than %s: data.%s takes longer ones", hostmem.Size(r.maxBytes), r.op)
	}
	return text, nil
}
