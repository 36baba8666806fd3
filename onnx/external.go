package onnx

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/onnx/internal/proto"
)

// An external reads data in files beside the model. An os.Root refuses paths that leave the folder, by
// "..", as absolute ones, or by symbolic links.
type external struct {
	dir  string
	root *os.Root
	open map[string]*mapped.Handle
}

// find is an op.External.
func (e *external) find(place []proto.Pair, size int) (io.ReaderAt, int64, error) {
	var name string
	var offset, length int64 = 0, -1
	for _, p := range place {
		var err error
		switch p.Key {
		case "location":
			name = p.Value
		case "offset":
			offset, err = strconv.ParseInt(p.Value, 10, 64)
		case "length":
			length, err = strconv.ParseInt(p.Value, 10, 64)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("the %s of its data is %q", p.Key, p.Value)
		}
	}
	f, err := e.file(name)
	if err != nil {
		return nil, 0, fmt.Errorf("its data is in %s: %w", files.Name(name), files.Reason(err))
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("its data is in %s: %w", files.Name(name), files.Reason(err))
	}
	if length < 0 {
		length = info.Size() - offset
	}
	switch {
	case offset < 0 || length < 0 || offset > info.Size() || length > info.Size()-offset:
		return nil, 0, fmt.Errorf("its data is in %s, %d bytes from %d on, and the file has %d", files.Name(name), length, offset, info.Size())
	case length < int64(size):
		return nil, 0, fmt.Errorf("its data in %s has %d bytes, and its shape needs %d", files.Name(name), length, size)
	}
	return f, offset, nil
}

// file returns an open file of the folder.
func (e *external) file(name string) (*mapped.Handle, error) {
	if f := e.open[name]; f != nil {
		return f, nil
	}
	if e.root == nil {
		root, err := os.OpenRoot(e.dir)
		if err != nil {
			return nil, err
		}
		e.root, e.open = root, map[string]*mapped.Handle{}
	}
	info, err := e.root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is not a regular file")
	}
	f, err := e.root.Open(name)
	if err != nil {
		return nil, err
	}
	e.open[name] = mapped.HandleOf(f, filepath.Join(e.dir, name))
	return e.open[name], nil
}

func (e *external) close() {
	for _, f := range e.open {
		f.Close()
	}
	if e.root != nil {
		e.root.Close()
	}
}
