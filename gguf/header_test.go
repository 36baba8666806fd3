package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/hostmem/memtest"
)

// An builder makes the bytes of a file.
type builder struct{ bytes.Buffer }

func (b *builder) put(values ...any) *builder {
	for _, v := range values {
		switch v := v.(type) {
		case string: // with its length
			b.put(uint64(len(v)))
			b.WriteString(v)
		case int:
			b.put(uint64(v))
		default:
			if err := binary.Write(b, binary.LittleEndian, v); err != nil {
				panic(err)
			}
		}
	}
	return b
}

// file returns a file of version 3 with tensors and metadata.
func newFile(tensors, pairs int, values ...any) *builder {
	b := &builder{}
	b.WriteString("GGUF")
	return b.put(uint32(3), tensors, pairs).put(values...)
}

// matrix describes a float32 tensor of 2 rows of 4.
func matrix(name string, offset int) []any {
	return []any{name, uint32(2), 4, 2, uint32(F32), offset}
}

// padded adds n bytes after the alignment.
func (b *builder) padded(n int) []byte {
	return append(b.Bytes(), make([]byte, -b.Len()&31+n)...)
}

var damaged = []struct {
	name string
	data []byte
	want string
}{
	{"empty", nil, "0 bytes are too few for a GGUF file"},
	{"text", []byte("hello, this is text"), `it begins with "hell" and not with "GGUF": not a GGUF file`},
	{"version", []byte("GGUF\x09\x00\x00\x00"), "it is of version 9: want 1 to 3"},
	{"big-endian", []byte("GGUF\x00\x00\x00\x03"), "its numbers are big-endian, which is not supported"},
	{"ends", []byte("GGUF\x03\x00\x00\x00\x00"), "it ends after 9 bytes, within its header: cut short?"},
	{"tensors", newFile(1<<40, 0).Bytes(), "the tensors would be 1099511627776, more than fit into the 8 bytes that follow"},
	{"pairs", newFile(0, -1).Bytes(), "the metadata would be 18446744073709551615, more than fit"},
	{"key", newFile(0, 1, 1<<50, 0, 0).Bytes(), "the bytes of a key of metadata would be"},
	{"long key", newFile(0, 1, strings.Repeat("k", 70000)).Bytes(), "a key of metadata would have 70000 bytes, more than 65535"},
	{"twice", newFile(0, 2, "a", uint32(0), uint8(1), "a", uint32(0), uint8(1)).Bytes(), `its metadata has the key "a" twice`},
	{"kind", newFile(0, 1, "a", uint32(13), 0).Bytes(), `metadata "a": it is of an unknown type 13`},
	{"kind of array", newFile(0, 1, "a", uint32(9), uint32(99), 0).Bytes(), `metadata "a": it is an array of an unknown type 99`},
	{"bool", newFile(0, 1, "a", uint32(7), uint8(2), 0).Bytes(), `metadata "a": a bool is 2: want 0 or 1`},
	{"array", newFile(0, 1, "a", uint32(9), uint32(12), 1<<60).Bytes(), `metadata "a": the elements of an array would be 1152921504606846976`},
	{"strings", newFile(0, 1, "a", uint32(9), uint32(8), 3, "b").Bytes(), `metadata "a": the elements of an array would be 3`},
	{"deep", newFile(0, 1, "a", uint32(9), bytes.Repeat([]byte{9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, 50)).Bytes(), `metadata "a": more than 8 arrays lie in each other`},
	{"alignment", newFile(0, 1, alignmentKey, uint32(4), uint32(24)).padded(0), "general.alignment is 24: want a power of two"},
	{"alignment 0", newFile(0, 1, alignmentKey, uint32(4), uint32(0)).padded(0), "general.alignment is 0: want a power of two"},
	{"alignment text", newFile(0, 1, alignmentKey, uint32(8), "x").padded(0), `metadata "general.alignment" is a string`},
	{"unnamed", newFile(1, 0, matrix("", 0)...).padded(32), `a tensor is named ""`},
	{"name", newFile(1, 0, matrix("\xff", 0)...).padded(32), `a tensor is named "\xff": want text in UTF-8`},
	{"same name", newFile(2, 0, append(matrix("a", 0), matrix("a", 32)...)...).padded(64), `two tensors are named "a"`},
	{"axes", newFile(1, 0, "a", uint32(65), 1, 1, 1).padded(0), `"a" has 65 axes: want at most 64`},
	{"elements", newFile(1, 0, "a", uint32(2), 1<<40, 1<<40, uint32(F32), 0).padded(0), `"a" has more elements than can be counted`},
	{"length", newFile(1, 0, "a", uint32(2), -1, 0, uint32(F32), 0).padded(0), `"a" has more elements than can be counted`},
	{"type", newFile(1, 0, "a", uint32(1), 1, uint32(77), 0).padded(32), `"a" is of an unknown type 77`},
	{"removed", newFile(1, 0, "a", uint32(1), 32, uint32(4), 0).padded(32), `"a" is of type Q4_2, which newer versions of ggml do not have: quantise the model again`},
	{"rows", newFile(1, 0, "a", uint32(2), 33, 32, uint32(Q8_0), 0).padded(4096), `"a" of shape [32 33] cannot be of type Q8_0: its rows have 33 elements, and blocks 32`},
	{"misaligned", newFile(1, 0, matrix("a", 4)...).padded(64), `"a" begins 4 bytes after the header: want a multiple of 32`},
	{"far", newFile(1, 0, matrix("a", 1<<62)...).padded(32), `"a" would begin 4611686018427387904 bytes after the header`},
	{"cut", newFile(1, 0, matrix("a", 0)...).padded(31), `"a" needs 32 bytes from 96 on, and the file has 127: cut short?`},
	{"overlap", newFile(2, 0, append(matrix("a", 0), matrix("b", 0)...)...).padded(64), `"a" and "b" overlap at byte 128`},
}

func TestDamaged(t *testing.T) {
	for _, c := range damaged {
		path := filepath.Join(t.TempDir(), "m.gguf")
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "gguf: "+path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Open = %v, want %s", c.name, err, c.want)
		}
	}
}

// Version 1 has lengths of 4 bytes.
func TestVersion1(t *testing.T) {
	b := &builder{}
	b.WriteString("GGUF")
	b.put(uint32(1), uint32(1), uint32(1), uint32(1), uint8('k'), uint32(9), uint32(8), uint32(2), uint32(1), uint8('x'), uint32(0))
	b.put(uint32(1), uint8('t'), uint32(1), uint32(3), uint32(I8), 0)
	h, err := parse(append(b.padded(0), 1, 2, 3))
	if err != nil || len(h.tensors) != 1 || h.tensors[0].Bytes != 3 || fmt.Sprint(h.meta) != "[{k [x ]}]" {
		t.Errorf("a file of version 1 has %v, %v", h, err)
	}
}

func parse(data []byte) (header, error) {
	return parseHeader(newParser(bytes.NewReader(data), int64(len(data))))
}

// A file that shrinks after Open is an error.
func TestShrinks(t *testing.T) {
	data, err := os.ReadFile("testdata/quants.gguf")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 1000); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"t.Q4_K", "t.F32"} {
		where := fmt.Sprintf("gguf: %s: %q: ", path, name)
		want := where + "the file has become shorter since it was opened: unexpected EOF"
		mapped := where + "the file was cut short while in use: open it again"
		if _, err := f.Tensor(name); err == nil || err.Error() != want && err.Error() != mapped {
			t.Errorf("Tensor(%q) = %v, want %s", name, err, mapped)
		}
		if _, err := f.Raw(name); err == nil || err.Error() != want {
			t.Errorf("Raw(%q) = %v, want %s", name, err, want)
		}
	}
}

// A header is refused, or its tensors lie in the file without overlap. Memory stays within the
// file's size.
func FuzzHeader(f *testing.F) {
	for _, name := range []string{"all_types", "quants", "llama_gqa"} {
		data, err := os.ReadFile("testdata/" + name + ".gguf")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 2000)])
	}
	for _, c := range damaged {
		f.Add(c.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var h header
		var err error
		memtest.Bound(t, len(data), func() { h, err = parse(data) })
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
				t.Fatalf("an error with control characters: %q", err)
			}
			return
		}
		slices.SortFunc(h.tensors, func(a, b Info) int { return int(a.Offset-b.Offset)*2 + min(a.Bytes, 1) - min(b.Bytes, 1) })
		end := int64(0)
		for _, x := range h.tensors {
			if x.Offset < end && x.Bytes > 0 || x.Offset+int64(x.Bytes) > int64(len(data)) && x.Bytes > 0 {
				t.Fatalf("%q is at bytes %d to %d of %d, after a tensor that ends at %d", x.Name, x.Offset, x.Offset+int64(x.Bytes), len(data), end)
			}
			end = max(end, x.Offset+int64(x.Bytes))
		}
	})
}
