package gguf_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/tensor"
)

// Files of other writers are written again byte for byte.
func TestRewrite(t *testing.T) {
	for _, name := range []string{"all_types", "quants", "llama_gqa"} {
		path := "testdata/" + name + ".gguf"
		f, err := gguf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var sources []gguf.Source
		for _, info := range f.Tensors() {
			sources = append(sources, gguf.Source{Name: info.Name, Type: info.Type, Shape: info.Shape,
				Raw: func() ([]byte, error) { return f.Raw(info.Name) }})
		}
		out := filepath.Join(t.TempDir(), "m.gguf")
		if err := gguf.Write(out, f.Meta, sources); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is written again as %d other bytes than its %d, %v", name, len(got), len(want), err)
		}
	}
}

func TestSave(t *testing.T) {
	meta := gguf.Meta{
		{"u8", uint8(200)}, {"i8", int8(-3)}, {"u16", uint16(1)}, {"i16", int16(-1)}, {"u32", uint32(1)}, {"i32", int32(-1)},
		{"u64", uint64(1 << 63)}, {"i64", int64(-1 << 63)}, {"f32", float32(0.1)}, {"f64", 0.1}, {"bool", true}, {"text", "größe"},
		{"texts", []string{"", "b"}}, {"bools", []bool{true, false}}, {"numbers", []float32{1, 2}}, {"none", []int64{}},
		{"deep", []any{[]uint8{1, 2}, []string{"x"}, []any{[]bool{true}}}}, {"general.alignment", uint32(64)},
	}
	x := tensor.Arange(3*256).Sub(300).Reshape(3, 256).Cast(tensor.Float32).Div(100)
	for _, typ := range gguf.Types() {
		path := filepath.Join(t.TempDir(), "m.gguf")
		tree := map[string]tensor.Tensor{"a": x, "b": tensor.Ones(2, 256)}
		if !typ.Quantised() && !strings.HasPrefix(typ.String(), "F") && typ != gguf.BF16 {
			for k, v := range tree {
				tree[k] = v.Cast(tensor.Int8)
			}
		}
		if err := gguf.Save(path, tree, meta, func(string, []int) gguf.Type { return typ }); err != nil {
			t.Fatal(typ, err)
		}
		f, err := gguf.Open(path)
		if err != nil {
			t.Fatal(typ, err)
		}
		defer f.Close()
		if !reflect.DeepEqual(f.Meta, meta) {
			t.Errorf("metadata is %v, want %v", f.Meta, meta)
		}
		got, err := f.Tensor("a")
		if err != nil {
			t.Fatal(err)
		}
		error := got.Cast(tensor.Float32).Sub(tree["a"].Cast(tensor.Float32)).Square().Mean().Sqrt().Item()
		if error > 1.2 || !typ.Quantised() && error > 0.01 {
			t.Errorf("%v: the error is %v", typ, error)
		}
		if info := f.Tensors()[1]; info.Offset%64 != 0 || info.Type != typ || info.Shape[1] != 256 {
			t.Errorf("the second tensor is %v", info)
		}
	}
}

// Weights of columns make their errors smaller, also of a stack of matrices.
func TestImportance(t *testing.T) {
	x := tensor.NewRNG(1).Normal(2, 8, 256)
	weights := make([]float32, 2*256)
	for i := range weights {
		weights[i] = 0.01
		if i%2 == i/256 { // even columns of the first matrix, odd ones of the second
			weights[i] = 1
		}
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	source := gguf.Source{Name: "a", Type: gguf.Q2_K, Shape: x.Shape(), Importance: weights, Tensor: func() (tensor.Tensor, error) { return x, nil }}
	if err := gguf.Write(path, nil, []gguf.Source{source}); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, important := range []int{0, 1} {
		y, err := f.At("a", i)
		if err != nil {
			t.Fatal(err)
		}
		errors := y.Sub(x.At(i)).Square().Reshape(8, 128, 2).Mean(0, 1).Reshape(2)
		if got, other := errors.At(important).Item(), errors.At(1-important).Item(); got > 0.8*other {
			t.Errorf("matrix %d: the error of the important columns is %v, of the others %v", i, got, other)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	x := func() (tensor.Tensor, error) { return tensor.Ones(2, 4), nil }
	nan := func() (tensor.Tensor, error) { return tensor.Full(0, 2, 32).Div(0), nil }
	a := gguf.Source{Name: "a", Shape: []int{2, 4}, Tensor: x}
	for _, c := range []struct {
		meta    gguf.Meta
		sources []gguf.Source
		want    string
	}{
		{gguf.Meta{{"k", 1}}, nil, `metadata "k" is of type int: see gguf.Pair`},
		{gguf.Meta{{"k", nil}}, nil, `metadata "k" is of type <nil>`},
		{gguf.Meta{{"k", []any{1}}}, nil, `metadata "k": an array of type []any has elements that are no arrays`},
		{gguf.Meta{{"k", "a"}, {"k", "b"}}, nil, `metadata "k": the key is there twice`},
		{gguf.Meta{{"general.alignment", uint32(3)}}, nil, "general.alignment is 3: want a power of two"},
		{nil, []gguf.Source{a, a}, `"a": two tensors have this name`},
		{nil, []gguf.Source{{Name: "a", Type: 99}}, `"a": there is no type 99`},
		{nil, []gguf.Source{{Name: "", Shape: []int{1}}}, `"": a tensor cannot have this name`},
		{nil, []gguf.Source{{Name: "a", Shape: []int{2, 4}, Type: gguf.Q8_0, Tensor: x}}, "cannot be of type Q8_0: its rows have 4 elements, and blocks 32"},
		{nil, []gguf.Source{{Name: "a", Shape: []int{2}}}, `"a": it has neither Raw nor Tensor`},
		{nil, []gguf.Source{{Name: "a", Shape: []int{2, 3}, Tensor: x}}, `"a": the tensor is of shape [2 4], want [2 3]`},
		{nil, []gguf.Source{{Name: "a", Shape: []int{2, 4}, Type: gguf.I8, Tensor: x}}, `"a": the tensor is of type float32, which cannot be stored as I8`},
		{nil, []gguf.Source{{Name: "a", Shape: []int{2}, Raw: func() ([]byte, error) { return make([]byte, 7), nil }}}, `"a": there are 7 bytes, want 8`},
		{nil, []gguf.Source{{Name: "a", Shape: []int{2, 32}, Type: gguf.Q4_0, Tensor: nan}}, `"a": row 0 from column 0 on: NaN cannot be quantised`},
		{nil, []gguf.Source{{Name: "a", Shape: []int{2, 32}, Type: gguf.Q4_0, Tensor: nan, Importance: []float32{1}}}, `"a": its importance has 1 weights for shape [2 32]: want 32`},
	} {
		path := filepath.Join(t.TempDir(), "m.gguf")
		err := gguf.Write(path, c.meta, c.sources)
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("gguf: save %s: ", path)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Write = %v, want %s", err, c.want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file is left", c.want)
		}
	}
}

// A model in several files is opened by the name of any.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	name := func(i int) string { return filepath.Join(dir, fmt.Sprintf("m-%05d-of-00002.gguf", i)) }
	for i, tree := range []map[string]tensor.Tensor{{"a": tensor.Ones(2)}, {"b": tensor.Zeros(3)}} {
		meta := gguf.Meta{{"split.no", uint16(i)}, {"split.count", uint16(2)}}
		if i == 0 {
			meta = append(gguf.Meta{{"general.name", "split"}}, meta...)
		}
		if err := gguf.Save(name(i+1), tree, meta, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		f, err := gguf.Open(name(i + 1))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var all map[string]tensor.Tensor
		if err := f.Load(&all, nil); err != nil || len(all) != 2 || len(f.Tensors()) != 2 {
			t.Errorf("the tensors are %v, %v", all, err)
		}
		if title, err := gguf.Get[string](f.Meta, "general.name"); title != "split" {
			t.Errorf("metadata is %v, %v", f.Meta, err)
		}
	}
	if err := os.Rename(name(1), filepath.Join(dir, "other.gguf")); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		name(2):                          "it is one of 2 files of a model, and there is no m-00001-of-00002.gguf",
		filepath.Join(dir, "other.gguf"): `it is one of 2 files of a model, whose names should end in "-of-00002.gguf"`,
	} {
		if _, err := gguf.Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s) = %v, want %s", path, err, want)
		}
	}
}
