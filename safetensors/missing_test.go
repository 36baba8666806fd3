package safetensors

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// A tensor that the file lacks is an error, but for fields that are optional or were set.
func TestMissing(t *testing.T) {
	type norm struct{ Weight, Bias tensor.Tensor }
	type embedded struct{ Gain tensor.Tensor }
	type net struct {
		Up    linear
		Norm  norm    `tensor:"ln,optional"`
		Heads []norm  `tensor:",optional"`
		Pair  [2]norm `tensor:",optional"`
		embedded
		Mean tensor.Tensor `tensor:"running_mean,state,optional"`
		More []norm
		Next *norm
		Any  []any `tensor:",optional"`
	}
	one := tensor.Ones(1)
	for _, tt := range []struct {
		file string
		tree net
		want string // the error, or the tensors that the tree has after Load
	}{
		{"up.weight gain", net{}, "up.weight gain"},
		{"up.weight gain running_mean", net{}, "up.weight gain running_mean"},
		{"up.bias gain", net{}, `it lacks "up.weight" of a safetensors.net: tag`},
		{"up.weight", net{}, `it lacks "gain"`},
		{"up.weight", net{embedded: embedded{one}}, "up.weight gain"},
		{"gain", net{Up: linear{Weight: one}}, "up.weight gain"},
		{"up.weight gain ln.weight", net{}, `it lacks "ln.bias" of`}, // all of an optional field, or none
		{"up.weight gain ln.weight", net{Norm: norm{Bias: one}}, "up.weight gain ln.weight ln.bias"},
		{"up.weight gain heads.0.weight heads.1.bias", net{}, `it lacks "heads.0.bias", "heads.1.weight" of`},
		{"up.weight gain pair.0.weight", net{}, `it lacks "pair.0.bias", "pair.1.weight", "pair.1.bias" of`},
		{"up.weight gain", net{Heads: make([]norm, 1)}, "up.weight gain"},
		{"up.weight gain", net{More: make([]norm, 6)}, `it lacks "more.0.weight", "more.0.bias", "more.1.weight", "more.1.bias", "more.2.weight", "more.2.bias", "more.3.weight", "more.3.bias" and 4 more of`},
		{"up.weight gain next.bias", net{}, `it lacks "next.weight" of`},
		{"up.weight gain", net{Any: []any{norm{}, norm{}}}, "up.weight gain"},
		{"up.weight gain any.1.bias any.1.weight", net{Any: []any{norm{}, norm{}}}, `it lacks "any.0.weight", "any.0.bias" of`},
		{"up.weight gain any.0.bias", net{Any: []any{norm{}}}, `it lacks "any.0.weight" of`},
		{"up.weight gain next.bias next.weight", net{}, `up.weight gain next.weight next.bias`},
	} {
		path := filepath.Join(t.TempDir(), "m.safetensors")
		file := map[string]tensor.Tensor{}
		for _, name := range strings.Fields(tt.file) {
			file[name] = tensor.Zeros(1)
		}
		if err := Save(path, file); err != nil {
			t.Fatal(err)
		}
		got := tt.tree
		err := Load(path, &got)
		if strings.HasPrefix(tt.want, "it lacks") {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Load of %q = %v, want %s", tt.file, err, tt.want)
			}
			continue
		}
		have, collectErr := collect(got, nil)
		names := map[string]bool{}
		for _, name := range strings.Fields(tt.want) {
			names[name] = true
			_, inFile := file[name]
			if x, ok := have[name]; !ok || (x.Item() == 0) != inFile {
				t.Errorf("Load of %q gives %s = %v", tt.file, name, x)
			}
		}
		if err != nil || collectErr != nil || len(have) != len(names) {
			t.Errorf("Load of %q gives %d tensors, %v, want %s", tt.file, len(have), err, tt.want)
		}
	}
}

func TestTransposed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	w := tensor.Arange(12).Reshape(2, 3, 2)
	if err := Save(path, map[string]tensor.Tensor{"w": w, "v": w}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got struct{ W, V tensor.Tensor }
	got.W = tensor.Zeros(2, 2, 3).Cast(tensor.Int32)
	err = f.Load(&got, func(name string) string {
		if name == "v" {
			return Transposed(Transposed(name))
		}
		return Transposed(name)
	})
	if err != nil || fmt.Sprint(got.W) != fmt.Sprint(w.T()) || fmt.Sprint(got.V) != fmt.Sprint(w) {
		t.Errorf("Load = %v, %v, %v", got.W, got.V, err)
	}
	if err := f.Load(&got.W, func(name string) string { return Transposed("") }); err != nil {
		t.Errorf(`Load with all skipped by Transposed("") = %v`, err)
	}
}

// A file for another model with many parts gives a short error.
func TestManyHollowParts(t *testing.T) {
	type part struct {
		Same, Other *linear `tensor:",optional"`
	}
	const parts = 1000
	file := map[string]tensor.Tensor{}
	tree := struct{ Parts []part }{make([]part, parts)}
	for i := range parts {
		tree.Parts[i].Same = &linear{}
		file[fmt.Sprintf("parts.%d.other.3.weight", i)] = tensor.Zeros(1)
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Save(path, file); err != nil {
		t.Fatal(err)
	}
	if err := Load(path, &tree); err == nil || len(err.Error()) > 2000 || !strings.HasSuffix(err.Error(), "; and so are 997 more") {
		t.Errorf("Load = %v, want a short error", err)
	}
}
