package npy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A file of NumPy's has the types and values of the safetensors file made with it.
func TestNumPyArchive(t *testing.T) {
	f, err := Open("testdata/dtypes.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := safetensors.Open("../safetensors/testdata/dtypes.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if got := fmt.Sprint(f.Names()); got != "[bool empty f16 f32 f64 i32 i64 scalar u8]" {
		t.Errorf("Names = %s", got)
	}
	for _, name := range f.Names() {
		got, err := f.Tensor(name)
		if err != nil {
			t.Errorf("Tensor(%q): %v", name, err)
			continue
		}
		want, err := want.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+.20g", got) != fmt.Sprintf("%+.20g", want) {
			t.Errorf("Tensor(%q) = %+v, want %+v", name, got, want)
		}
	}
	i64, err := f.Tensor("i64")
	if got := fmt.Sprint(i64.DType(), i64.Reshape(-1), err); got != "int64 [0 1 2 3 4 5] <nil>" {
		t.Errorf("i64 = %s", got)
	}
	if _, err := f.Tensor("no"); err == nil || !strings.Contains(err.Error(), `testdata/dtypes.npz: there is no tensor named "no"`) {
		t.Errorf(`Tensor("no") = %v`, err)
	}
}

func TestFortran(t *testing.T) {
	var x tensor.Tensor
	if err := Load("testdata/fortran_order.npy", &x); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(x.DType(), x.Shape(), x.Reshape(-1)); got != "float32 [3 4] [0 1 2 3 4 5 6 7 8 9 10 11]" {
		t.Errorf("Load = %s", got)
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	write(t, path, file(dict("'<i4'", "True", "(2, 2, 3)"), 48))
	b := read(t, path)
	for i := range 12 {
		b[len(b)-48+4*i] = byte(i)
	}
	write(t, path, string(b))
	if err := Load(path, &x); err == nil {
		t.Error("Load of another shape: no error")
	}
	x = tensor.Tensor{}
	if err := Load(path, &x); err != nil {
		t.Fatal(err)
	}
	for i := range 12 { // column-major
		if got := x.At(i % 2).At(i / 2 % 2).At(i / 4).Item(); got != float64(i) {
			t.Errorf("element %d %d %d = %v, want %d", i%2, i/2%2, i/4, got, i)
		}
	}
}

// Arrays of NumPy, loaded and saved, keep their bytes.
func TestSameBytes(t *testing.T) {
	z, err := zip.OpenReader("testdata/dtypes.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		want, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), m.Name)
		write(t, path, string(want))
		var x tensor.Tensor
		err = Load(path, &x)
		if err == nil {
			err = Save(path, x)
		}
		if got := read(t, path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: saved as %q, want %q, %v", m.Name, got, want, err)
		}
	}
}

// TestEveryType fails for an element type that comes back different.
func TestEveryType(t *testing.T) {
	want := map[string]tensor.Tensor{"é/1": tensor.Ones(1, 0, 2), "": tensor.Full(7)}
	for _, d := range ir.DTypes {
		want[d.String()] = tensor.New([]int32{0, 1, -1, 100, 200, 300}, 3, 2).Cast(d)
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := Save(path, want); err != nil {
		t.Fatal(err)
	}
	got := map[string]tensor.Tensor{}
	if err := Load(path, &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Errorf("Load gives %d tensors, want %d", len(got), len(want))
	}
	for name, x := range want {
		if y := got[name]; y.DType() != x.DType() || fmt.Sprintf("%+v", y) != fmt.Sprintf("%+v", x) {
			t.Errorf("%s: Load = %+v, want %+v", name, y, x)
		}
	}
	before := read(t, path)
	if err := Save(path, want); err != nil || !bytes.Equal(read(t, path), before) {
		t.Errorf("saving equal tensors gives another file, %v", err)
	}
}

func TestTree(t *testing.T) {
	type linear struct {
		Weight tensor.Tensor
		Bias   tensor.Tensor `tensor:",optional"`
	}
	type model struct {
		Blocks []linear
		Scale  tensor.Tensor
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	m := model{[]linear{{tensor.Eye(2), tensor.Ones(2)}, {Weight: tensor.Ones(1, 2)}}, tensor.Scalar(3)}
	if err := Save(path, m); err != nil {
		t.Fatal(err)
	}
	var back model
	if err := Load(path, &back); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(len(back.Blocks), back.Blocks[0].Bias, back.Blocks[1], back.Scale); got != "2 [1 1] {[[1 1]] <absent>} 3" {
		t.Errorf("Load = %s", got)
	}
	back.Scale = tensor.Zeros(2)
	if err := Load(path, &back); err == nil || !strings.Contains(err.Error(), `m.npz: "scale" is float32 [] in the file and float32 [2] in the tree`) {
		t.Errorf("Load of another shape = %v", err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var only tensor.Tensor
	err = f.Load(&struct{ X *tensor.Tensor }{&only}, func(name string) string { return map[string]string{"scale": "x"}[name] })
	if err != nil || only.Item() != 3 {
		t.Errorf("Load with rename = %v, %v", only, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Tensor("scale"); err == nil || !strings.HasPrefix(err.Error(), "npy: "+path+": ") {
		t.Errorf("Tensor after Close = %v", err)
	}
}

// Integers in both orders of bytes.
func TestIntegers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	for _, c := range []struct{ descr, data, want string }{
		{"|i1", "\x01\xfe", "int8 [1 -2]"},
		{">i2", "\x01\x00\xff\x05", "int16 [256 -251]"},
		{"<i2", "\x01\x00\xff\x05", "int16 [1 1535]"},
		{">u2", "\x01\x00\xff\x05", "uint16 [256 65285]"},
		{"<u2", "\x01\x00\xff\x05", "uint16 [1 1535]"},
		{">u4", "\x00\x01\x00\x00\x00\x00\x00\x05", "uint32 [65536 5]"},
		{">u8", "\x00\x00\x00\x00\x00\x00\x00\x05\xff\xff\xff\xff\xff\xff\xff\xfe", "uint64 [5 18446744073709551614]"},
		{"<u8", "\x05\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff", "uint64 [5 18446744073709551615]"},
	} {
		write(t, path, file("{'shape': (2L,), 'fortran_order': False, \"descr\": '"+c.descr+"'}\n", 0)+c.data)
		var x tensor.Tensor
		if err := Load(path, &x); err != nil || fmt.Sprint(x.DType(), x) != c.want {
			t.Errorf("Load of %s = %v, %v, want %s", c.descr, x, err, c.want)
		}
	}
}

// compressed returns an archive as numpy.savez_compressed writes it.
func compressed(t testing.TB, members map[string]string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range members {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompressed(t *testing.T) {
	const n = 1 << 20
	path := filepath.Join(t.TempDir(), "x.npz")
	array := file(dict("'|u1'", "False", fmt.Sprintf("(%d,)", n)), n)
	write(t, path, compressed(t, map[string]string{"x.npy": array, "README": "skipped"}))
	var tree map[string]tensor.Tensor
	if err := Load(path, &tree); err != nil || len(tree) != 1 || tree["x"].Len() != n {
		t.Errorf("Load = %v, %v", tree, err)
	}
}

func TestSaveErrors(t *testing.T) {
	dir := t.TempDir()
	one := tensor.Ones(1)
	for _, tt := range []struct {
		name string
		tree any
		want string
	}{
		{"x", one, "want a path that ends in .npy, for one tensor, or in .npz"},
		{"x.npy", map[string]any{"a": one, "b": one}, `a .npy file has one array without a name, but the map[string]interface {} has ["a" "b"]: save to a path that ends in .npz`},
		{"x.npz", map[string]any{"\xff": one}, `a tensor cannot be named "\xff"`},
		{"x.npz", map[string]any{"a\x00": one}, `a tensor cannot be named "a\x00"`},
		{"x.npz", nil, "no tensor to save"},
		{"no/x.npz", one, filestest.NoFolder(t)},
	} {
		path := filepath.Join(dir, tt.name)
		err := Save(path, tt.tree)
		if err == nil || !strings.HasPrefix(err.Error(), "npy: save "+path+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Save(%s, %T) = %v, want %s", tt.name, tt.tree, err, tt.want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("failed saves left %v", left)
	}
}
