package npy

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// versioned is a file of a version of the format from 2 on, which has longer headers.
func versioned(version byte, header, data string) string {
	n := binary.LittleEndian.AppendUint32(nil, uint32(len(header)))
	return magic + string([]byte{version, 0}) + string(n) + header + data
}

// Files as NumPy and Python's zipfile write them in all versions.
func TestWorldFiles(t *testing.T) {
	decoded := func(text string) string {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	start := func(header, data string) string { return file(header, 0) + data }
	for _, tt := range []struct{ what, file, name, want string }{
		{"version 1", start(dict("'<i2'", "False", "(2,)"), "\x01\x00\x02\x00"), "", "[2] int16 [1 2]"},
		{"version 2", versioned(2, dict("'<i2'", "False", "(2,)"), "\x01\x00\x02\x00"), "", "[2] int16 [1 2]"},
		{"version 3", versioned(3, dict("'<i2'", "False", "(2,)"), "\x01\x00\x02\x00"), "", "[2] int16 [1 2]"},
		{"big-endian, Fortran order", versioned(2, dict("'>u2'", "True", "(2, 2)"), "\x00\x01\x00\x02\x00\x03\x00\x04"), "", "[2 2] uint16 [1 3 2 4]"},
		{"native order", start(dict("'=f4'", "False", "()"), "\x00\x00\x80\x3f"), "", "[] float32 [1]"},
		{"bool", start(dict("'|b1'", "False", "(2,)"), "\x01\x00"), "", "[2] bool [true false]"},
		{"of Python 2", start("{'descr': '<u1', 'fortran_order': False, 'shape': (2L,)}", "\x01\x02"), "", "[2] uint8 [1 2]"},
		{"a length of 0", start(dict("'<f8'", "False", "(0, 3)"), ""), "", "[0 3] float64 [] (shape [0])"},
		{"keys in another order", start(`{"shape": (1,), "fortran_order": False, "descr": "|i1"}`, "\x05"), "", "[1] int8 [5]"},
		{"archive written to a pipe, 64-bit sizes", decoded("UEsDBC0ACAAAAAAAIQAAAAAA//////////8FABQAYS5ucHkBABAAAAAAAAAAAAAAAAAAAAAAAJNOVU1QWQMAOQAAAHsnZGVzY3InOiAnPmkyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfQABAAJQSwcIXpUxwEkAAAAAAAAASQAAAAAAAABQSwECLQMtAAgAAAAAACEAXpUxwEkAAABJAAAABQAAAAAAAAAAAAAAgAEAAAAAYS5ucHlQSwUGAAAAAAEAAQAzAAAAmAAAAAAA"), "a", "[2] int16 [1 2]"},
		{"archive stored, 64-bit sizes", decoded("UEsDBC0AAAAAAAAAIQBelTHA//////////8FABQAYS5ucHkBABAASQAAAAAAAABJAAAAAAAAAJNOVU1QWQMAOQAAAHsnZGVzY3InOiAnPmkyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfQABAAJQSwECLQMtAAAAAAAAACEAXpUxwEkAAABJAAAABQAAAAAAAAAAAAAAgAEAAAAAYS5ucHlQSwUGAAAAAAEAAQAzAAAAgAAAAAAA"), "a", "[2] int16 [1 2]"},
		{"archive deflated, with another file", compressed(t, map[string]string{"a.npy": file(dict("'|u1'", "False", "(2,)"), 2), "readme": "x"}), "a", "[2] uint8 [0 0]"},
	} {
		path := filepath.Join(t.TempDir(), "m")
		write(t, path, tt.file)
		f, err := Open(path)
		if err != nil {
			t.Errorf("%s: Open = %v", tt.what, err)
			continue
		}
		x, err := f.Tensor(tt.name)
		f.Close()
		if got := fmt.Sprint(x.Shape(), " ", x.DType(), " ", x.Reshape(-1)); err != nil || got != tt.want {
			t.Errorf("%s: Tensor = %s, %v, want %s", tt.what, got, err, tt.want)
		}
	}
	// Nearly the longest header.
	long := versioned(2, dict("'|u1'", "False", "(1,)")+strings.Repeat(" ", maxHeader-100), "\x07")
	path := filepath.Join(t.TempDir(), "m.npy")
	write(t, path, long)
	f, err := Open(path)
	if err != nil {
		t.Fatalf("a header of nearly %d bytes: Open = %v", maxHeader, err)
	}
	f.Close()
}
