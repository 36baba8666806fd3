package npy

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/treefile"
	"github.com/tensorken/tensorken/tensor"
)

// Save writes the tensors of a tree to a file, without absent ones: an archive if path ends
// in .npz, and a single tensor if it ends in .npy. Another end is an error, and so is a tree
// without tensors. If path is a symbolic link, Save writes its target.
//
// Save writes path.xxxxxxxx.tmp, with eight hexadecimal digits, and renames it to path,
// so path is the old file or the whole new one at all times. A killed process leaves
// its temporary file, which the next Save to the same path removes.
func Save(path string, tree any) error {
	if err := save(path, tree); err != nil {
		return fmt.Errorf("npy: save %s: %w", files.Name(path), files.Reason(err))
	}
	return nil
}

func save(path string, tree any) error {
	tensors, err := treefile.Collect(tree)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(tensors))
	get := func(name string) (head, data []byte, err error) {
		t := tensors[name]
		data, err = tensor.Internal.Bytes(graph.Token{}, "Save", t)
		return formatHeader(t.DType(), t.Shape()), data, err
	}
	var write func(*bufio.Writer) error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		if err := checkNames(names); err != nil {
			return err
		}
		write = func(w *bufio.Writer) error { return writeArchive(w, names, get) }
	case ".npy":
		if len(names) > 1 || names[0] != "" {
			return fmt.Errorf("a .npy file has one array without a name, but the %T has %q: save to a path that ends in .npz", tree, names)
		}
		write = func(w *bufio.Writer) error {
			head, data, err := get("")
			if err == nil {
				w.Write(head)
				_, err = w.Write(data)
			}
			return err
		}
	default:
		return errors.New("want a path that ends in .npy, for one tensor, or in .npz")
	}
	if err := tensor.Eval(slices.Collect(maps.Values(tensors))); err != nil {
		return err
	}
	return files.Replace(path, write)
}

// checkNames returns an error for a name that an archive cannot have.
func checkNames(names []string) error {
	for _, name := range names {
		if !utf8.ValidString(name) || strings.ContainsRune(name, 0) || len(name) > math.MaxUint16-len(suffix) {
			return fmt.Errorf("a tensor cannot be named %.100q", name)
		}
	}
	return nil
}
