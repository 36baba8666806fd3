package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem/memtest"
	"github.com/tensorken/tensorken/internal/treefile"
	"github.com/tensorken/tensorken/tensor"
)

// file returns the bytes of a .npy file with a header and that many zeros.
func file(header string, data int) string {
	n := binary.LittleEndian.AppendUint16(nil, uint16(len(header)))
	return magic + "\x01\x00" + string(n) + header + strings.Repeat("\x00", data)
}

func dict(descr, fortran, shape string) string {
	return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }"
}

func TestOpenErrors(t *testing.T) {
	good := file(dict("'<f4'", "False", "(2,)"), 8)
	archive := compressed(t, map[string]string{"a.npy": good})
	twice := strings.ReplaceAll(compressed(t, map[string]string{"a.npy": good, "b.npy": good}), "b.npy", "a.npy")
	change := func(s string, at int, b byte) string { return s[:at] + string(b) + s[at+1:] }
	directory := strings.Index(archive, "PK\x01\x02")
	for _, tt := range []struct{ what, bytes, want string }{
		{"empty", "", "not a .npy file"},
		{"text", "hello, world", "not a .npy file"},
		{"short", magic + "\x01", "7 bytes are too few for a .npy file"},
		{"short 2", magic + "\x02\x00\x01\x00", "10 bytes are too few for a .npy file"},
		{"version", change(good, 6, 4), "version 4 of the format is unknown"},
		{"huge header", magic + "\x02\x00\xff\xff\xff\xff", "its header would have 4294967295 bytes"},
		{"cut header", good[:20], "but only 10 follow: cut short?"},
		{"cut data", good[:len(good)-1], "shape [2] of float32 needs 8 bytes, but only 7 follow: cut short?"},
		{"extra data", good + "x", "1 bytes follow the array of shape [2] of float32: several arrays in one file?"},
		{"huge", file(dict("'<f4'", "False", "(1152921504606846975,)"), 8), "has more than 576460752303423487 elements"},
		{"large", file(dict("'<f4'", "False", "(1000000000, 1000)"), 8), "needs 4000000000000 bytes, but only 8 follow"},
		{"overflow", file(dict("'<f4'", "False", "(4294967296, 4294967296)"), 8), "elements"},
		{"too large", file(dict("'<f4'", "False", "(99999999999999999999,)"), 8), "has the number 99999999999999999999: more than can be counted"},
		{"negative", file(dict("'<f4'", "False", "(-1,)"), 8), "its shape [-1] has a length of -1"},
		{"fraction", file(dict("'<f4'", "False", "(1.5,)"), 8), "its header is no Python literal"},
		{"bool length", file(dict("'<f4'", "False", "(True,)"), 8), "its shape has the length true"},
		{"no tuple", file(dict("'<f4'", "False", "(2)"), 8), "must have descr, fortran_order, a bool, and shape, a tuple"},
		{"no bool", file(dict("'<f4'", "0", "(2,)"), 8), "must have descr, fortran_order, a bool"},
		{"no descr", file("{'fortran_order': False, 'shape': ()}", 8), "must have descr"},
		{"another key", file("{'fortran_order': False, 'shape': (), 'descr': '<f4', 'x': None}", 4), "and nothing else"},
		{"key twice", file("{'shape': (), 'shape': ()}", 8), `its header has the key "shape" twice`},
		{"no dict", file("(2,)", 8), "its header is no Python dict"},
		{"more", file(dict("'<f4'", "False", "(2,)")+"x", 8), "its header is no Python dict"},
		{"code", file(dict("open('x')", "False", "(2,)"), 8), "its header is no Python literal"},
		{"open string", file("{'descr: 3", 8), "its header is no Python literal"},
		{"open list", file("[1, 2", 8), "its header is no Python literal"},
		{"open dict", file("{'a': 1", 8), "its header is no Python literal"},
		{"nested", file(strings.Repeat("(", 1000), 8), "its header is nested more than 64 deep"},
		{"no type", file(dict("'<q4'", "False", "(2,)"), 8), `its descr <q4 is no type`},
		{"no type 2", file(dict("'<<f4'", "False", "(2,)"), 8), `its descr <<f4 is no type`},
		{"number type", file(dict("4", "False", "(2,)"), 8), `its descr 4 is no type`},
		{"empty type", file(dict("'<'", "False", "(2,)"), 8), `its descr < is no type`},
		{"axes", file(dict("'<f4'", "False", "("+strings.Repeat("1, ", 65)+")"), 4), "has more than 64 axes"},
		{"values", file(dict("'<f4'", "False", "("+strings.Repeat("1,", 5000)+")"), 4), "its header has more than 4096 values"},
		{"text of terminals", file(dict("'\x1b]0;x\a'", "False", "(2,)"), 8), `its descr "\x1b]0;x\a" is no type`},
		{"text of terminals as a length", file(dict("'<f4'", "False", "('\x1b[2J',)"), 8), `its shape has the length "\x1b[2J"`},
		{"overlap", overlapping(t, file(dict("'|b1'", "False", "(1000,)"), 1000)), `"a.npy" and "b.npy" overlap`},
		{"cut archive", archive[:len(archive)-1], "not a whole .npz file"},
		{"twice named", twice, `it has two arrays named "a"`},
		{"broken array", compressed(t, map[string]string{"a.npy": good[:len(good)-1]}), `"a": shape [2] of float32 needs 8 bytes, but only 7 follow`},
		{"encrypted", change(archive, directory+8, 1), `"a": it is encrypted`},
		{"method", change(archive, directory+10, 9), `"a": it is compressed by method 9: want 0, stored, or 8, deflate`},
		{"bomb", change(archive, directory+24+3, 0x70), `"a": it cannot have 18`},
		{"outside", change(archive, directory+20+2, 0x70), "but the file has"},
	} {
		path := filepath.Join(t.TempDir(), "m")
		write(t, path, tt.bytes)
		f, err := Open(path)
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "npy: "+path+": ") || strings.Contains(err.Error(), "\n") {
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

// overlapping returns an archive of two arrays whose bytes are the same.
func overlapping(t *testing.T, array string) string {
	t.Helper()
	b := []byte(compressed(t, map[string]string{"a.npy": array, "b.npy": array}))
	first := bytes.Index(b, []byte("PK\x01\x02"))
	second := first + 4 + bytes.Index(b[first+4:], []byte("PK\x01\x02"))
	const offset = 42 // of the local header
	copy(b[second+offset:second+offset+4], b[first+offset:])
	return string(b)
}

// A type that package tensor lacks is an error only when its array is read.
func TestUnsupported(t *testing.T) {
	for descr, want := range map[string]string{
		"'<c8'":                         "complex64 (<c8)",
		"'<f16'":                        "float128 (<f16)",
		"'<U3'":                         "str (<U3)",
		"'|S10'":                        "bytes (|S10)",
		"'|O'":                          "object (|O)",
		"'<M8[ns]'":                     "datetime64 (<M8[ns])",
		"'|V7'":                         "void (|V7)",
		"'|V7\x1b[2J'":                  `void ("|V7\x1b[2J")`,
		"[('x', '<f4'), ('y', '|i1')]":  "a record of fields",
		"[('x', [('z', '<f4', (2,))])]": "a record of fields",
	} {
		path := filepath.Join(t.TempDir(), "m.npz")
		write(t, path, compressed(t, map[string]string{
			"a.npy": file(dict(descr, "False", "(2,)"), 16),
			"b.npy": file(dict("'|b1'", "False", "(3,)"), 3),
		}))
		f, err := Open(path)
		if err != nil {
			t.Errorf("%s: Open = %v", descr, err)
			continue
		}
		defer f.Close()
		if b, err := f.Tensor("b"); err != nil || b.Len() != 3 {
			t.Errorf("%s: the other array is %v, %v", descr, b, err)
		}
		_, err = f.Tensor("a")
		if want := "npy: " + path + `: "a": there are no tensors of type ` + want; err == nil || err.Error() != want {
			t.Errorf("%s: Tensor = %v, want %s", descr, err, want)
		}
	}
}

// A changed byte in the data of an archive is found by its checksum.
func TestChecksum(t *testing.T) {
	b := read(t, "testdata/dtypes.npz")
	i := bytes.Index(b, []byte("(5,)")) // uint8 0 to 4
	i += bytes.Index(b[i:], []byte{0, 1, 2, 3, 4})
	b[i+2] = 7
	path := filepath.Join(t.TempDir(), "m.npz")
	write(t, path, string(b))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Tensor("u8"); err == nil || !strings.Contains(err.Error(), `"u8": zip: checksum error`) {
		t.Errorf("Tensor = %v", err)
	}
	if _, err := f.Tensor("i32"); err != nil {
		t.Errorf("Tensor of another array = %v", err)
	}
}

// A file is refused, or its arrays have the shapes that they say and are read or refused.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"dtypes.npz", "fortran_order.npy"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(file(dict("'>i4'", "True", "(2, 1, 3)"), 24)))
	f.Add([]byte(file(dict("[('a', \"|O\"), ('b', '<U7', (3L, 4))]", "False", "(0, 7)"), 0)))
	f.Add([]byte(compressed(f, map[string]string{"a.npy": file(dict("'<f4'", "False", "(20,)"), 80), "b.npy": file(dict("'|b1'", "False", "()"), 1)})))
	f.Fuzz(func(t *testing.T, b []byte) {
		var arrays treefile.Tensors[array]
		var err error
		memtest.Bound(t, len(b), func() { arrays, err = readArrays(bytes.NewReader(b), int64(len(b))) })
		if err != nil {
			return
		}
		for name, a := range arrays {
			var x tensor.Tensor
			memtest.Bound(t, len(b), func() { x, err = arrays.Tensor(name) })
			if err != nil {
				continue
			}
			data, err := x.Bytes()
			if err != nil || len(data) != graph.Len(a.shape)*a.typ.dtype.Size() {
				t.Fatalf("%q of shape %v has %d bytes, %v", name, a.shape, len(data), err)
			}
		}
	})
}
