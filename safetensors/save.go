package safetensors

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/walk"
	"github.com/tensorken/tensorken/tensor"
)

// Save writes the tensors of a tree to a file, without the absent ones. It is
// written beside path and then takes its place, so that path at all times
// holds the old file or the whole new one.
func Save(path string, tree any) error { return SaveMeta(path, tree, nil) }

// SaveMeta is [Save] with metadata; nil is none.
func SaveMeta(path string, tree any, meta map[string]string) error {
	if err := save(path, tree, meta); err != nil {
		return fmt.Errorf("safetensors: save %s: %w", path, reason(err))
	}
	return nil
}

// reason is err without the name of a file.
func reason(err error) error {
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

func save(path string, tree any, meta map[string]string) error {
	entries, tensors, err := collect(tree, meta)
	if err != nil {
		return err
	}
	if err := tensor.Eval(slices.Collect(maps.Values(tensors))); err != nil {
		return err
	}
	return replaceFile(path, func(w *bufio.Writer) error {
		header := formatHeader(entries, meta)
		w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header))))
		w.Write(header)
		for _, e := range entries {
			data, err := tensor.Internal.Bytes(graph.Token{}, "Save", tensors[e.name])
			if err != nil {
				return err
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}

// collect returns the tensors of a tree by name and their entries, in the
// order of a file.
func collect(tree any, meta map[string]string) ([]entry, map[string]tensor.Tensor, error) {
	leaves, err := walk.Flatten[tensor.Tensor](tree)
	if err != nil {
		return nil, nil, err
	}
	for k, v := range meta {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, nil, fmt.Errorf("metadata %q: %q is not UTF-8", k, v)
		}
	}
	var entries []entry
	tensors := map[string]tensor.Tensor{}
	for _, l := range leaves {
		if !l.Value.IsValid() {
			continue
		}
		if l.Name == metadataKey || !utf8.ValidString(l.Name) {
			return nil, nil, fmt.Errorf("a tensor cannot be named %q", l.Name)
		}
		entries = append(entries, entry{name: l.Name, typ: typeOf(l.Value.DType()), shape: l.Value.Shape()})
		tensors[l.Name] = l.Value
	}
	arrange(entries)
	return entries, tensors, nil
}

// replaceFile has write fill a new file, which then takes the place of path.
func replaceFile(path string, write func(*bufio.Writer) error) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays
	}
	mode := fs.FileMode(0o666) // before umask
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return errors.New("not a regular file")
		}
		mode = info.Mode().Perm()
	}
	f, err := createBeside(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(bufio.NewWriterSize(f, 1<<16)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// createBeside creates a new file in the folder of path.
func createBeside(path string, mode fs.FileMode) (*os.File, error) {
	for {
		name := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// syncDir makes a rename in a folder last. Not all systems can, and the file
// is whole in any case.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
