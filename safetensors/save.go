package safetensors

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// Save writes the tensors of a tree to a file, without absent ones. A tree without
// tensors is an error. If path is a symbolic link, Save writes its target.
//
// Save writes path.xxxxxxxx.tmp, with eight hexadecimal digits, and renames it to path,
// so path is the old file or the whole new one at all times. A killed process leaves
// its temporary file, which the next Save to the same path removes; on systems without
// flock, such as Windows, only once the file is an hour old.
func Save(path string, tree any) error { return SaveMeta(path, tree, nil) }

// SaveMeta is [Save] with metadata; nil is none. The header, with metadata and names, is
// limited to 100,000,000 bytes.
func SaveMeta(path string, tree any, meta map[string]string) error {
	if err := save(path, tree, meta); err != nil {
		return fmt.Errorf("safetensors: save %s: %w", path, reason(err))
	}
	return nil
}

// reason returns err without the name of a file.
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
	header := formatHeader(entries, meta)
	if len(header) > maxHeader {
		return fmt.Errorf("its header, names and metadata together, would have %d bytes, more than the %d that Open reads: keep long metadata in a file of its own",
			len(header), maxHeader)
	}
	if err := tensor.Eval(slices.Collect(maps.Values(tensors))); err != nil {
		return err
	}
	return replaceFile(path, func(w *bufio.Writer) error {
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

// collect returns the tensors of a tree by name, and their entries in file order.
func collect(tree any, meta map[string]string) ([]entry, map[string]tensor.Tensor, error) {
	leaves, err := pytree.Flatten[tensor.Tensor](tree)
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
	if len(entries) == 0 {
		if tree == nil || !pytree.IsTree[tensor.Tensor](tree) {
			return nil, nil, fmt.Errorf("no tensor to save: %T is not made of tensors: want a Tensor, or a struct, slice, map or pointer made of them", tree)
		}
		return nil, nil, fmt.Errorf("no tensor to save: the %T is empty, or all its tensors are absent: construct the model before saving it", tree)
	}
	arrange(entries)
	return entries, tensors, nil
}
