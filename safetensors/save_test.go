package safetensors

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/tensor"
)

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Save(path, tensor.Ones(2)); err != nil {
		t.Fatal(err)
	}
	const want = `H       {"":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	if got := read(t, path); len(got) != 8+56+8 || strings.TrimSpace(got[8:64]) != want[8:] {
		t.Errorf("Save wrote %q", got)
	}
}

// Saving to a link keeps the link and writes its target, new or old.
func TestSaveLink(t *testing.T) {
	for _, tt := range []struct{ what, link, old string }{
		{"file", "real", "real"},
		{"dangling", "real", ""},
		{"through a linked folder", "sub/../real", ""}, // sub/.. is deep, not the link's own folder
		{"two links", "next", ""},
	} {
		dir := t.TempDir()
		deep := filepath.Join(dir, "deep")
		if err := os.MkdirAll(filepath.Join(deep, "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
		real := filepath.Join(dir, "real")
		if tt.link == "sub/../real" && runtime.GOOS != "windows" { // which leaves out sub/.. before it looks
			real = filepath.Join(deep, "real")
		}
		if tt.old != "" {
			if err := os.WriteFile(real, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, "m.safetensors")
		for name, to := range map[string]string{"m.safetensors": tt.link, "sub": "deep/sub", "next": real} {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Skip(err)
			}
		}
		if err := Save(path, tensor.Ones(2)); err != nil {
			t.Errorf("%s: Save = %v", tt.what, err)
			continue
		}
		if to, err := os.Readlink(path); filepath.ToSlash(to) != filepath.ToSlash(tt.link) {
			t.Errorf("%s: after Save the link leads to %q, %v", tt.what, to, err)
		}
		info, err := os.Lstat(real)
		if err != nil || !info.Mode().IsRegular() || info.Size() != 72 || tt.old != "" && runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%s: Save wrote %v, %v", tt.what, info, err)
		}
		if files, _ := os.ReadDir(dir); len(files) > 5 {
			t.Errorf("%s: Save left %v", tt.what, files)
		}
	}

	dir := t.TempDir()
	for name, tt := range map[string]struct{ to, want string }{
		"lost": {"none/real", "lost: it is a link to " + filepath.Join(dir, "none", "real") + ": "},
		"loop": {"loop", "loop: more than 255 links lead to one another"},
	} {
		path := filepath.Join(dir, name)
		if err := os.Symlink(tt.to, path); err != nil {
			t.Skip(err)
		}
		if err := Save(path, tensor.Ones(2)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Save through a link to %s = %v, want %s", tt.to, err, tt.want)
		}
		if _, err := os.Readlink(path); err != nil {
			t.Errorf("Save replaced the link to %s", tt.to)
		}
	}
}

// Concurrent Saves to one path succeed, and the last one's file is whole.
func TestSaveConcurrent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 5 {
				if err := Save(path, tensor.Full(float64(i), 100)); err != nil {
					t.Errorf("Save beside others: %v", err)
				}
			}
		})
	}
	group.Wait()
	var got tensor.Tensor
	if err := Load(path, &got); err != nil || got.Min().Item() != got.Max().Item() {
		t.Errorf("Load after Saves at once: %v, %v", got, err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("Saves at once left %v", files)
	}
}

func TestSaveErrors(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "a")
	if err := os.WriteFile(old, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	one := tensor.Ones(1)
	for _, tt := range []struct {
		path string
		tree any
		meta map[string]string
		want string
	}{
		{filepath.Join(dir, "no", "m"), one, nil, filestest.NoFolder(t)},
		{dir, one, nil, "not a regular file"},
		{old, map[string]any{"a.b": one, "a": map[string]any{"b": one}}, nil, `two different leaves are named "a.b"`},
		{old, map[string]any{"__metadata__": one}, nil, `a tensor cannot be named "__metadata__"`},
		{old, map[string]any{"\xff": one}, nil, `a tensor cannot be named "\xff"`},
		{old, one, map[string]string{"k": "\xff"}, `metadata "k": "\xff" is not UTF-8`},
		{old, struct{ w tensor.Tensor }{}, nil, "unexported field w"},
		{old, one, map[string]string{"k": strings.Repeat("v", maxHeader)}, "its header, names and metadata together, would have 100000080 bytes, more than the 100000000 that Open reads: keep long metadata in a file of its own"},
		{old, nil, nil, "no tensor to save: <nil> is not made of tensors: want a Tensor, or a struct, slice, map or pointer made of them"},
		{old, []float32{1}, nil, "no tensor to save: []float32 is not made of tensors"},
		{old, 3, nil, "no tensor to save: int is not made of tensors: want a Tensor"},
		{old, struct{ Name string }{"x"}, nil, "no tensor to save: the struct { Name string } is empty, or"},
		{old, linear{}, nil, "no tensor to save: the safetensors.linear is empty, or all its tensors are absent: construct the model before saving it"},
		{old, (*linear)(nil), nil, "no tensor to save: the *safetensors.linear is empty, or"},
		{old, map[string]any{}, map[string]string{"epoch": "3"}, "no tensor to save: the map[string]interface {} is empty, or"},
	} {
		if testing.Short() && len(tt.meta["k"]) == maxHeader {
			continue
		}
		err := SaveMeta(tt.path, tt.tree, tt.meta)
		if tt.path == old && read(t, old) != "old" {
			t.Errorf("Save(%T) replaced the file", tt.tree)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "safetensors: save "+tt.path+": ") {
			t.Errorf("Save(%s, %T) = %v, want %s", tt.path, tt.tree, err, tt.want)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("failed saves left %v", files)
	}
}
