package safetensors

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/treefile"
	"github.com/tensorken/tensorken/tensor"
)

// Save writes the tensors of a tree to a file, without absent ones. A tree without
// tensors is an error. If path is a symbolic link, Save writes its target.
//
// Save writes path.xxxxxxxx.tmp, with eight hexadecimal digits, and renames it to path,
// so path is the old file or the whole new one at all times. A killed process leaves
// its temporary file, which the next Save to the same path removes.
func Save(path string, tree any) error { return SaveMeta(path, tree, nil) }

// SaveMeta is [Save] with metadata, which may be nil. The header, with metadata and names,
// is limited to 100,000,000 bytes.
func SaveMeta(path string, tree any, meta map[string]string) error {
	if err := save(path, tree, meta); err != nil {
		return fmt.Errorf("safetensors: save %s: %w", files.Name(path), files.Reason(err))
	}
	return nil
}

func save(path string, tree any, meta map[string]string) error {
	tensors, err := collect(tree, meta)
	if err != nil {
		return err
	}
	return write(path, tensors, meta)
}

// write writes tensors, at least one, to a file.
func write(path string, tensors map[string]tensor.Tensor, meta map[string]string) error {
	var entries []entry
	for name, t := range tensors {
		entries = append(entries, entry{name: name, typ: typeOf(t.DType()), shape: t.Shape()})
	}
	arrange(entries)
	header := formatHeader(entries, meta)
	if len(header) > maxHeader {
		return fmt.Errorf("its header, names and metadata together, would have %d bytes, more than the %d that Open reads: keep long metadata in a file of its own",
			len(header), maxHeader)
	}
	if err := tensor.Eval(slices.Collect(maps.Values(tensors))); err != nil {
		return err
	}
	return files.Replace(path, func(w *bufio.Writer) error {
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
		return nil
	})
}

// collect returns the tensors of a tree by name, and checks names and metadata.
func collect(tree any, meta map[string]string) (map[string]tensor.Tensor, error) {
	tensors, err := treefile.Collect(tree)
	if err != nil {
		return nil, err
	}
	for k, v := range meta {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, fmt.Errorf("metadata %q: %q is not UTF-8", k, v)
		}
	}
	for name := range tensors {
		if name == metadataKey || !utf8.ValidString(name) {
			return nil, fmt.Errorf("a tensor cannot be named %q", name)
		}
	}
	return tensors, nil
}
