package safetensors

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/hostmem/memtest"
	"github.com/tensorken/tensorken/tensor"
)

// A header is refused, or it covers the data and can be written and read again.
func FuzzHeader(f *testing.F) {
	for _, name := range []string{"cnn", "dtypes"} {
		b, err := os.ReadFile("testdata/" + name + ".safetensors")
		if err != nil {
			f.Fatal(err)
		}
		n := int64(binary.LittleEndian.Uint64(b))
		f.Add(b[8:8+n], int64(len(b))-8-n)
	}
	f.Add([]byte(`{"a":{"dtype":"F4","shape":[3,2],"data_offsets":[0,3]},"a":1}`), int64(3))
	f.Add([]byte(`{"a":{"dtype":"U8","shape":[`+strings.Repeat("1,", 5000)+`1],"data_offsets":[0,1]}}`), int64(1))
	f.Add([]byte(`{`+strings.Repeat(" ", 300)+`"__metadata__":{"a":"\u001b"},"b":{"shape":[0],"data_offsets":[0,0],"dtype":"F8_E4M3"}}`), int64(0))
	f.Fuzz(func(t *testing.T, text []byte, size int64) {
		if size < 0 {
			return
		}
		var entries []entry
		var meta map[string]string
		var err error
		memtest.Bound(t, len(text), func() { entries, meta, err = parseHeader(text, size) })
		if err != nil {
			return
		}
		at := int64(0)
		for _, e := range entries {
			if e.start != at || e.end < at {
				t.Fatalf("parseHeader(%q) puts %q at %d, want %d", text, e.name, e.start, at)
			}
			at = e.end
		}
		if at != size {
			t.Fatalf("parseHeader(%q) covers %d of %d bytes", text, at, size)
		}
		again, meta2, err := parseHeader(formatHeader(entries, meta), size)
		same := slices.EqualFunc(entries, again, func(a, b entry) bool {
			return a.name == b.name && a.typ == b.typ && slices.Equal(a.shape, b.shape) && a.end == b.end
		})
		if err != nil || !same || fmt.Sprint(meta) != fmt.Sprint(meta2) {
			t.Fatalf("parseHeader(%q) = %v, %v; written and read %v, %v, %v", text, entries, meta, again, meta2, err)
		}
	})
}

// An index is refused, or its tensors are its shards' tensors.
func FuzzIndex(f *testing.F) {
	dir := f.TempDir()
	shard := filepath.Join(dir, "s.safetensors")
	if err := Save(shard, map[string]tensor.Tensor{"a": tensor.Ones(1), "b": tensor.Ones(2)}); err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		`{"metadata":{"total_size":12},"weight_map":{"a":"s.safetensors","b":"./s.safetensors"}}`,
		"\ufeff" + `{"weight_map":{"a":"../s.safetensors"}}`, `{"weight_map":{"a":"x/../s.safetensors","b":"nul"}}`,
		`{"weight_map":{}}`, `{"metadata":[[[[]]]],"weight_map":null}`,
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(dir, "m.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		var file *File
		var err error
		memtest.Bound(t, len(text), func() { file, err = Open(path) })
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
				t.Fatalf("Open of %q: an error on several lines or with control characters: %q", text, err)
			}
			return
		}
		defer file.Close()
		if len(file.shards) > 1 {
			t.Fatalf("Open of %q opens %d files, want the one that exists", text, len(file.shards))
		}
		for _, name := range file.Names() {
			if _, err := file.Tensor(name); err != nil {
				t.Fatalf("Tensor(%q) = %v", name, err)
			}
		}
	})
}
