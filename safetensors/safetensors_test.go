package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Files of the reference writer, loaded and saved, keep their bytes.
func TestSameBytes(t *testing.T) {
	for _, name := range []string{"cnn.safetensors", "dtypes.safetensors"} {
		in := filepath.Join("testdata", name)
		f, err := Open(in)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var tree map[string]tensor.Tensor
		if err := f.Load(&tree, nil); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), name)
		if err := SaveMeta(out, tree, f.Meta); err != nil {
			t.Fatal(err)
		}
		got, want := read(t, out), read(t, in)
		if got != want {
			t.Errorf("saving %s gave %d bytes, want %d; header\n%.300q, want\n%.300q", name, len(got), len(want), got, want)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTypes(t *testing.T) {
	f, err := Open("testdata/dtypes.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]string{ // values as float64s; the file was written by the reference library
		"bf16":   "bfloat16 [3 4] [-0.173828125 2.390625 0.3203125 -0.00042724609375 1.3203125 -0.099609375 -1.6484375 1.375 0.05126953125 -0.0986328125 0.380859375 -0.9609375]",
		"bool":   "bool [3] [true false true]",
		"empty":  "float32 [0 3] [] (shape [0])",
		"f16":    "float16 [3 4] [-0.10015869140625 -0.36083984375 -0.8515625 0.12445068359375 -0.295166015625 1.376953125 -0.76953125 -0.213134765625 1.2392578125 0.10980224609375 -1.40234375 -1.02734375]",
		"f32":    "float32 [3 4] [0.3855067789554596 -0.7553180456161499 0.784003496170044 -0.9585925936698914 -0.13062626123428345 -0.5345701575279236 -0.47134605050086975 -0.9869944453239441 0.2202838808298111 -0.154480442404747 0.12977153062820435 -0.3721312880516052]",
		"f64":    "float64 [2 2] [0.7383726835250854 -0.5783537030220032 -0.7837626338005066 -1.6361581087112427]",
		"i32":    "int32 [4] [0 1 2 3]",
		"i64":    "int64 [2 3] [0 1 2 3 4 5]",
		"scalar": "float32 [] [3.5]",
		"u8":     "uint8 [5] [0 1 2 3 4]",
	}
	for _, name := range f.Names() {
		x, err := f.Tensor(name)
		if err != nil {
			t.Errorf("Tensor(%q) = %v", name, err)
			continue
		}
		values := fmt.Sprint(x.Reshape(-1))
		if x.DType().IsFloat() {
			values = fmt.Sprintf("%g", x.Reshape(-1).Cast(tensor.Float64))
		}
		if got := fmt.Sprintf("%v %v %v", x.DType(), x.Shape(), strings.Replace(strings.Join(strings.Fields(values), " "), "[ ", "[", 1)); got != want[name] {
			t.Errorf("Tensor(%q) is\n%s, want\n%s", name, got, want[name])
		}
	}
	if len(f.Names()) != len(want) || f.Meta["format"] != "pt" {
		t.Errorf("names %v, metadata %v", f.Names(), f.Meta)
	}
	if _, err := f.Tensor("no"); err == nil || !strings.Contains(err.Error(), `there is no tensor named "no"`) {
		t.Errorf(`Tensor("no") = %v`, err)
	}
}

type linear struct {
	Weight tensor.Tensor
	Bias   tensor.Tensor `tensor:",optional"`
}

type model struct {
	Blocks []struct{ Up, Down linear }
	Scale  tensor.Tensor
	State  map[string]tensor.Tensor
	Extra  *linear
}

func makeModel() *model {
	m := &model{Scale: tensor.Scalar(3), State: map[string]tensor.Tensor{"a.b": tensor.Arange(2)}}
	m.Blocks = make([]struct{ Up, Down linear }, 2)
	for i := range m.Blocks {
		m.Blocks[i].Up.Weight = tensor.Full(float64(i), 2, 3)
		m.Blocks[i].Down = linear{tensor.Full(float64(i), 3, 2), tensor.Ones(3)}
	}
	return m
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Save(path, makeModel()); err != nil {
		t.Fatal(err)
	}
	var zero model
	full := makeModel()
	full.Scale = tensor.Scalar(0)
	for _, m := range []*model{&zero, full} {
		if err := Load(path, m); err != nil {
			t.Fatalf("Load: %v", err)
		}
		got := fmt.Sprint(m.Scale, m.Blocks[1].Up.Weight, m.Blocks[0].Up.Bias, m.Blocks[0].Down.Bias, m.State["a.b"], m.Extra)
		want := "3 [[1 1 1]\n [1 1 1]] <absent> [1 1 1] [0 1] <nil>"
		if got != want {
			t.Errorf("Load gave %s, want %s", got, want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Save(path, linear{tensor.Ones(2, 3), tensor.Ones(2)}); err != nil {
		t.Fatal(err)
	}
	var absent tensor.Tensor
	within := func(part string) func(string) string { return func(name string) string { return part + name } }
	for _, tt := range []struct {
		tree   any
		rename func(string) string
		want   string
	}{
		{&struct{ Weight tensor.Tensor }{}, nil, `a struct { Weight tensor.Tensor } has no field for "bias"`},
		{&struct{ Weight, Bias, Gain, Shift tensor.Tensor }{}, nil, `it lacks "gain", "shift" of a struct {`},
		{&struct{ Weight, Gain tensor.Tensor }{}, nil, `it lacks "gain" of a struct { Weight tensor.Tensor; Gain tensor.Tensor }: tag a field that may stay absent ` + "`tensor:\",optional\"`; a struct"},
		{&struct{ Weight, Gain tensor.Tensor }{}, nil, ` has no field for "bias"`},
		{&linear{}, func(name string) string { return Transposed(name) }, `"bias" is of shape [2]: it has no two axes to transpose`},
		{&linear{Weight: tensor.Ones(2, 3)}, func(name string) string { return strings.Replace(name, "weight", Transposed("weight"), 1) }, `"weight" is float32 [3 2], transposed, in the file and float32 [2 3] in the tree`},
		{&linear{tensor.Ones(3, 2), absent}, nil, `"weight" is float32 [2 3] in the file and float32 [3 2] in the tree`},
		{&linear{tensor.Ones(2, 3), tensor.Arange(2)}, nil, `"bias" is float32 [2] in the file and int32 [2] in the tree`},
		{&linear{}, func(string) string { return "weight" }, `"bias" and "weight" would both be named "weight"`},
		{&struct{ Net []any }{}, within("net.0."), `"net" of a struct { Net []interface {} } is a nil []interface {}, so it has no place for "bias", "weight": make the model first, by the constructor that made the saved one`},
		{&struct{ Net map[string]error }{Net: map[string]error{}}, within("net.a."), `"net" of a struct { Net map[string]error } is an empty map[string]error, so`},
		{&struct{ Net any }{}, within("net."), `"net" of a struct { Net interface {} } is a nil interface {}, so`},
		{&struct{ Net []any }{[]any{nil}}, within("net.0."), `"net.0" of a struct { Net []interface {} } is a nil interface {}, so`},
		{&struct{ Net *linear }{}, within("net.gain."), `"net" of a struct { Net *safetensors.linear } is a nil *safetensors.linear, so`},
		{new([]any), within("0."), "the tree of a []interface {} is a nil []interface {}, so"},
		{linear{}, nil, "safetensors.linear is not a pointer to a tree: pass the address of a variable, as &model"},
		{(*linear)(nil), nil, "the *safetensors.linear is nil, so nothing can be set in it: make it first"},
		{nil, nil, "<nil> is not a pointer to a tree"},
		{&struct{ Weight, Bias, gain tensor.Tensor }{}, nil, "unexported field gain holds tensor.Tensor"},
	} {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		err = f.Load(tt.tree, tt.rename)
		f.Close()
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Load(%T) = %v, want %s", tt.tree, err, tt.want)
		}
	}
	l := linear{tensor.Zeros(2, 3), tensor.Arange(2)}
	if err := Load(path, &l); err == nil || l.Weight.Max().Item() != 0 {
		t.Errorf("a failed Load changed the tree: %v, %v", l.Weight, err)
	}
}

func TestRename(t *testing.T) {
	f, err := Open("testdata/cnn.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var net struct {
		Conv1 linear `tensor:"0"`
		Conv2 linear `tensor:"4"`
		Out   linear
	}
	err = f.Load(&net, func(name string) string {
		if strings.HasPrefix(name, "1.") {
			return ""
		}
		return strings.Replace(name, "8.", "out.", 1)
	})
	if got := fmt.Sprint(net.Conv1.Weight.Shape(), net.Conv2.Bias.Shape(), net.Out.Weight.Shape(), err); got != "[8 1 3 3] [16] [10 64] <nil>" {
		t.Errorf("Load with rename gave %s", got)
	}
}

func TestTied(t *testing.T) {
	shared := &linear{Weight: tensor.Ones(2)}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Save(path, map[string]any{"a": shared, "b": shared}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := fmt.Sprint(f.Names(), f.Meta); got != "[a.weight] map[]" {
		t.Errorf("a pointer met twice is saved as %s", got)
	}
	tied := linear{}
	if err := f.Load(map[string]*linear{"a": &tied, "b": &tied}, nil); err != nil || tied.Weight.Len() != 2 {
		t.Errorf("Load of a pointer met twice gave %v, %v", tied.Weight, err)
	}
	var zero struct{ A, B *linear } // does not say that they are one
	if err := f.Load(&zero, nil); err != nil || zero.A == nil || zero.A.Weight.Len() != 2 || zero.B != nil {
		t.Errorf("Load of a pointer met twice into a zero struct gave %v, %v", zero, err)
	}
}

// file returns the bytes of a file with a header and the given amount of data.
func file(header string, data int) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + strings.Repeat("\x00", data)
}

func TestOpenErrors(t *testing.T) {
	f32 := func(name, shape, offsets string) string {
		return `"` + name + `":{"dtype":"F32","shape":[` + shape + `],"data_offsets":[` + offsets + `]}`
	}
	whole := file("{"+f32("a", "2", "0,8")+"}", 8)
	for _, tt := range []struct{ what, bytes, want string }{
		{"empty", "", "0 bytes are too few for a safetensors file"},
		{"short", "1234567", "7 bytes are too few"},
		{"text", "hello, world", "its header would have 8583909746840200552 bytes, more than 100000000"},
		{"huge header", string(binary.LittleEndian.AppendUint64(nil, math.MaxUint64)), "its header would have 18446744073709551615 bytes"},
		{"cut header", whole[:20], "but only 12 follow: cut short?"},
		{"cut data", whole[:len(whole)-1], `"a" is at bytes 0 to 8 of 7`},
		{"extra data", whole + "x", "no tensor is at bytes 8 to 9"},
		{"no object", file("[]", 0), "its header is not a JSON object"},
		{"no header", file("", 0), "its header is not a JSON object"},
		{"bad JSON", file(`{"a":}`, 0), "its header is not JSON after byte 5, \"}\": the file is damaged, or of another format"},
		{"open JSON", file(`{"a":{}`, 0), "want dtype, shape and two data_offsets"},
		{"unclosed", file(`{`+f32("a", "", "0,4"), 4), "its header is not JSON: a brace is not closed in its 52 bytes"},
		{"no comma", file(`{"a":1 "b":2}`, 0), "header of"},
		{"a type that is a number", file(`{"a":{"dtype":5,"shape":[],"data_offsets":[0,4]}}`, 4), `header of "a": dtype is 5, want a string`},
		{"more JSON", file(`{} {}`, 0), "its header has text after the end"},
		{"UTF-8", file("{\"\xff\":1}", 0), "its header is not UTF-8"},
		{"no shape", file(`{"a":{"dtype":"F32","data_offsets":[0,4]}}`, 4), `header of "a": want dtype, shape and two data_offsets`},
		{"one offset", file(`{"a":{"dtype":"F32","shape":[],"data_offsets":[0]}}`, 4), "two data_offsets"},
		{"three offsets", file(`{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4,4]}}`, 4), "two data_offsets"},
		{"key in capitals", file(`{"a":{"DType":"F32","shape":[],"data_offsets":[0,4]}}`, 4), `header of "a": want dtype, shape and two data_offsets`},
		{"key in two cases", file(`{"a":{"dtype":"F31","DTYPE":"F32","shape":[],"data_offsets":[0,4]}}`, 4), `"a" is of an unknown type "F31"`},
		{"key twice", file(`{"a":{"dtype":"F64","shape":[],"dtype":"F32","data_offsets":[0,4]}}`, 4), `header of "a" has the key "dtype" twice`},
		{"no entry", file(`{"a":[]}`, 0), `header of "a" is not a JSON object`},
		{"null", file(`{"a":{"dtype":"F32","shape":null,"data_offsets":[0,4]}}`, 4), `header of "a": want dtype, shape and two data_offsets`},
		{"null length", file(`{"a":{"dtype":"F32","shape":[null],"data_offsets":[0,0]}}`, 0), `header of "a": want dtype, shape and two data_offsets`},
		{"negative", file("{"+f32("a", "-1", "0,4")+"}", 4), `header of "a": shape is [-1], want a list of integers from 0 on`},
		{"fraction", file("{"+f32("a", "1.5", "0,4")+"}", 4), `header of "a": shape is [1.5], want a list of integers from 0 on`},
		{"type", file(`{"a":{"dtype":"F31","shape":[],"data_offsets":[0,4]}}`, 4), `"a" is of an unknown type "F31"`},
		{"backwards", file("{"+f32("a", "1", "4,0")+"}", 4), `"a" is at bytes 4 to 0 of 4`},
		{"outside", file("{"+f32("a", "1", "4,8")+"}", 4), `"a" is at bytes 4 to 8 of 4`},
		{"far", file("{"+f32("a", "1", "18446744073709551612,18446744073709551615")+"}", 4), `"a" is at bytes`},
		{"size", file("{"+f32("a", "3", "0,8")+"}", 8), `"a" has 8 bytes, but shape [3] of F32 needs 12`},
		{"overflow", file("{"+f32("a", "4294967296,4294967296", "0,0")+"}", 0), `"a" has shape [4294967296 4294967296]: more than can be counted`},
		{"overflow int", file("{"+f32("a", "9223372036854775808,0", "0,0")+"}", 0), "more than can be counted"},
		{"overlap", file("{"+f32("a", "2", "0,8")+","+f32("b", "2", "4,12")+"}", 12), `"a" and "b" overlap at byte 4`},
		{"twice there", file("{"+f32("a", "2", "0,8")+","+f32("b", "2", "0,8")+"}", 8), `"a" and "b" overlap at byte 0`},
		{"hole", file("{"+f32("a", "2", "0,8")+","+f32("b", "2", "12,20")+"}", 20), "no tensor is at bytes 8 to 12"},
		{"late", file("{"+f32("a", "2", "4,12")+"}", 12), "no tensor is at bytes 0 to 4"},
		{"twice named", file("{"+f32("a", "1", "0,4")+","+f32("a", "1", "4,8")+"}", 8), `its header has the key "a" twice`},
		{"metadata", file(`{"__metadata__":{"a":1}}`, 0), `its metadata "a" is not a string`},
		{"metadata value null", file(`{"__metadata__":{"a":null}}`, 0), `its metadata "a" is not a string`},
		{"metadata null", file(`{"__metadata__":null}`, 0), "its metadata is not a JSON object"},
		{"metadata twice", file(`{"__metadata__":{"a":"1","b":"","a":"2"}}`, 0), `its metadata has the key "a" twice`},
	} {
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := os.WriteFile(path, []byte(tt.bytes), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "safetensors: "+path+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Open = %v, want %s", tt.what, err, tt.want)
		}
	}
	if _, err := Open("testdata/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of no file = %v", err)
	}
	if _, err := Open("testdata"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Open of a folder = %v", err)
	}
}

// TestEveryType fails for an element type that files lack, or that comes back different.
func TestEveryType(t *testing.T) {
	want := map[string]tensor.Tensor{}
	for _, d := range ir.DTypes {
		if typeOf(d) < 0 {
			t.Errorf("safetensors/header.go has no name for %v", d)
			continue
		}
		want[d.String()] = tensor.New([]int32{0, 1, -1, 100, 200, 300}).Cast(d)
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Save(path, want); err != nil {
		t.Fatal(err)
	}
	got := map[string]tensor.Tensor{}
	for name := range want {
		got[name] = tensor.Tensor{}
	}
	if err := Load(path, got); err != nil {
		t.Fatal(err)
	}
	for name, x := range want {
		if y := got[name]; y.DType() != x.DType() || fmt.Sprint(y) != fmt.Sprint(x) {
			t.Errorf("%s: Load = %v %v, want %v", name, y.DType(), y, x)
		}
	}
}

// A type that package tensor lacks is an error only when its tensor is read.
func TestUnsupported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	header := `{"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"BOOL","shape":[4],"data_offsets":[4,8]}}`
	bytes := []byte(file(header, 8))
	bytes[len(bytes)-1] = 7
	if err := os.WriteFile(path, bytes, 0o666); err != nil {
		t.Fatal(err)
	}
	var tree struct{ A, B tensor.Tensor }
	err := Load(path, &tree)
	if want := `"a": there are no tensors of type F8_E4M3`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Load = %v, want %s", err, want)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := f.Tensor("b")
	if got := fmt.Sprint(b, err); got != "[false false false true] <nil>" {
		t.Errorf(`Tensor("b") = %s`, got)
	}
}

func TestIndex(t *testing.T) {
	dir := t.TempDir()
	save := func(name string, tree any) {
		t.Helper()
		if err := Save(filepath.Join(dir, name), tree); err != nil {
			t.Fatal(err)
		}
	}
	save("one.safetensors", map[string]any{"weight": tensor.Ones(2, 2)})
	save("two.safetensors", map[string]any{"bias": tensor.Arange(2)})
	path := filepath.Join(dir, "model.safetensors.index.json")
	open := func(text string) (*File, error) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return Open(path)
	}
	f, err := open(`{"metadata":{"total_size":24,"format":"pt"},"weight_map":{"weight":"one.safetensors","bias":"two.safetensors"}}`)
	if err != nil {
		t.Fatal(err)
	}
	var l linear
	err = f.Load(&l, nil)
	if got := fmt.Sprint(l.Weight, l.Bias, f.Meta, err); got != "[[1 1]\n [1 1]] [0 1] map[format:pt total_size:24] <nil>" {
		t.Errorf("Load of an index gave %s", got)
	}
	if err := f.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if _, err := f.Tensor("bias"); err == nil {
		t.Error("Tensor after Close: no error")
	}
	for _, tt := range [][2]string{
		{`{`, "not an index of safetensors files"},
		{`{"Weight_Map":{}}`, `it has no "weight_map"`},
		{`{"weight_map":{"a":"one.safetensors","a":"two.safetensors"}}`, `its "weight_map" has the key "a" twice`},
		{`{"weight_map":{"a":1}}`, `its "weight_map" "a" is not a string`},
		{`{"a":1}`, `it has no "weight_map"`},
		{`{"weight_map":{"a":"../one.safetensors"}}`, "it names a file outside its folder"},
		{`{"weight_map":{"a":"one.safetensors"}}`, `"a" should be in "one.safetensors", but is not`},
		{`{"weight_map":{"a":"three.safetensors"}}`, "three.safetensors: " + filestest.NoFile(t)},
	} {
		if _, err := open(tt[0]); err == nil || !strings.Contains(err.Error(), tt[1]) {
			t.Errorf("Open of index %s = %v, want %s", tt[0], err, tt[1])
		}
	}
}

func TestFormatHeader(t *testing.T) {
	meta := map[string]string{"b": "\x01\x1f\"\\/\b\f\n\r\t<é\u2028\x7f", "a": ""}
	want := `{"__metadata__":{"a":"","b":"\u0001\u001f\"\\/\b\f\n\r\t<é` + "\u2028\x7f" + `"}}`
	got := string(formatHeader(nil, meta))
	if strings.TrimRight(got, " ") != want || len(got)%8 != 0 {
		t.Errorf("formatHeader = %q, want %q", got, want)
	}
	_, back, err := parseHeader([]byte(got), 0)
	if err != nil || fmt.Sprint(back) != fmt.Sprint(meta) {
		t.Errorf("parseHeader(%q) = %q, %v", got, back, err)
	}
}
