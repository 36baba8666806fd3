package safetensors

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/tensor"
)

// indexSuffix is the end of the name of an index in Hugging Face's layout.
const indexSuffix = ".safetensors.index.json"

// SaveSharded writes the tensors of a tree to several files (shards) and their index, in
// Hugging Face's layout: for the path model.safetensors.index.json the shards are
// model-00001-of-00003.safetensors and so on, in the same folder. Other ends of path are an
// error. [Open] and [Load] read the index as they read a single file.
//
// Tensors are taken in the order of their names. A shard has at most maxBytes bytes of
// them, or a single tensor that is larger.
//
// Each file is written as [Save] does. An old index is removed before the first shard is
// written, and the new one is written last, so a path that exists is whole. Old shards stay
// if there were more of them.
func SaveSharded(path string, tree any, maxBytes int64) error {
	if err := saveSharded(path, tree, maxBytes); err != nil {
		return fmt.Errorf("safetensors: save %s: %w", files.Name(path), files.Reason(err))
	}
	return nil
}

func saveSharded(path string, tree any, maxBytes int64) error {
	at := max(0, len(path)-len(indexSuffix))
	stem := path[:at]
	switch {
	case !strings.EqualFold(path[at:], indexSuffix):
		return fmt.Errorf("want a path that ends in %s", indexSuffix)
	case maxBytes <= 0:
		return fmt.Errorf("shards of at most %d bytes hold nothing", maxBytes)
	}
	tensors, err := collect(tree, nil)
	if err != nil {
		return err
	}
	if err := tensor.Eval(slices.Collect(maps.Values(tensors))); err != nil {
		return err
	}
	if err := files.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var index struct {
		Metadata struct {
			TotalSize int64 `json:"total_size"`
		} `json:"metadata"`
		WeightMap map[string]string `json:"weight_map"`
	}
	index.WeightMap = map[string]string{}
	shards := split(tensors, maxBytes)
	for i, shard := range shards {
		file := fmt.Sprintf("%s-%05d-of-%05d.safetensors", stem, i+1, len(shards))
		if err := write(file, shard, nil); err != nil {
			return fmt.Errorf("%s: %w", files.Name(file), files.Reason(err))
		}
		for name, t := range shard {
			index.WeightMap[name] = filepath.Base(file)
			index.Metadata.TotalSize += bytesOf(t)
		}
	}
	return files.Replace(path, func(w *bufio.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(index)
	})
}

// split splits tensors, in the order of their names, into shards.
func split(tensors map[string]tensor.Tensor, maxBytes int64) (shards []map[string]tensor.Tensor) {
	room := int64(0)
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		t := tensors[name]
		n := bytesOf(t)
		if n > room || shards == nil {
			shards, room = append(shards, map[string]tensor.Tensor{}), maxBytes
		}
		room -= n
		shards[len(shards)-1][name] = t
	}
	return shards
}

func bytesOf(t tensor.Tensor) int64 { return int64(t.Len()) * int64(t.DType().Size()) }
