package safetensors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/tensor"
)

func TestSaveSharded(t *testing.T) {
	tree := map[string]tensor.Tensor{
		"a": tensor.Arange(2), "b": tensor.Arange(1), "large": tensor.Arange(100), "z": tensor.Ones(3), "zz": tensor.Zeros(0, 2),
	}
	for _, tt := range []struct {
		maxBytes int64
		shards   int
		of       map[string]int // shards of some names
	}{
		{12, 3, map[string]int{"a": 1, "b": 1, "large": 2, "z": 3, "zz": 3}},
		{11, 5, map[string]int{"a": 1, "b": 2, "large": 3, "z": 4}},
		{1, 5, map[string]int{"a": 1, "b": 2, "zz": 5}},
		{1 << 40, 1, map[string]int{"a": 1, "zz": 1}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "model.safetensors.index.json")
		if err := SaveSharded(path, tree, tt.maxBytes); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) != tt.shards+1 {
			t.Errorf("shards of %d bytes: files %v, want %d and an index", tt.maxBytes, left, tt.shards)
		}
		for name, i := range tt.of {
			shard, err := Open(filepath.Join(dir, fmt.Sprintf("model-%05d-of-%05d.safetensors", i, tt.shards)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := shard.Tensor(name); err != nil {
				t.Errorf("shards of %d bytes: %q is not in shard %d: %v", tt.maxBytes, name, i, err)
			}
			shard.Close()
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got := map[string]tensor.Tensor{}
		err = f.Load(&got, nil)
		if fmt.Sprint(got) != fmt.Sprint(tree) || f.Meta["total_size"] != "424" || err != nil {
			t.Errorf("shards of %d bytes: Load = %v, %v, %v", tt.maxBytes, got, f.Meta, err)
		}
	}
}

func TestSaveShardedErrors(t *testing.T) {
	dir := t.TempDir()
	one := tensor.Ones(1)
	index := filepath.Join(dir, "m.safetensors.index.json")
	for _, tt := range []struct {
		path string
		tree any
		max  int64
		want string
	}{
		{filepath.Join(dir, "m.safetensors"), one, 1, "want a path that ends in .safetensors.index.json"},
		{index, one, 0, "shards of at most 0 bytes hold nothing"},
		{index, map[string]any{"__metadata__": one}, 1, `a tensor cannot be named "__metadata__"`},
		{index, nil, 1, "no tensor to save"},
		{filepath.Join(dir, "no", "m.safetensors.index.json"), one, 1, "m-00001-of-00001.safetensors: " + filestest.NoFolder(t)},
	} {
		err := SaveSharded(tt.path, tt.tree, tt.max)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "safetensors: save "+tt.path+": ") {
			t.Errorf("SaveSharded(%s, %T, %d) = %v, want %s", tt.path, tt.tree, tt.max, err, tt.want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("failed saves left %v", left)
	}
}

// While shards are replaced there is no index, which would name old and new ones.
func TestSaveShardedIndexLast(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors.index.json")
	tree := map[string]tensor.Tensor{"a": tensor.Ones(1), "b": tensor.Ones(1)}
	if err := SaveSharded(path, tree, 4); err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(dir, "m-00002-of-00002.safetensors")
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(second, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := SaveSharded(path, tree, 4); err == nil || !strings.Contains(err.Error(), "00002.safetensors: not a regular file") {
		t.Errorf("SaveSharded over a folder = %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the index is there after a failure: %v", err)
	}
}

// However an index spells a file, it is opened once.
func TestSpellingsOfShards(t *testing.T) {
	dir := t.TempDir()
	if err := Save(filepath.Join(dir, "s.safetensors"), map[string]tensor.Tensor{"a": tensor.Ones(1), "b": tensor.Ones(2), "c": tensor.Ones(3)}); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "m.index.json")
	text := "\ufeff" + `{"weight_map":{"a":"s.safetensors","b":"./s.safetensors","c":"././x/../s.safetensors"}}`
	if err := os.WriteFile(index, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(index)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := fmt.Sprint(len(f.shards), f.Names()); got != "1 [a b c]" {
		t.Errorf("Open opens %s, want 1 [a b c]", got)
	}
	// Names of files are quoted: they are the text of a stranger.
	text = `{"weight_map":{"a":"\u001b[2J"}}`
	if err := os.WriteFile(index, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(index); err == nil || !strings.Contains(err.Error(), `\x1b[2J": `) {
		t.Errorf("Open = %q, want the name quoted", err)
	}
}
