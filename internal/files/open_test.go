package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tensorken/tensorken/driver"
)

func TestReadAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	sparse := filepath.Join(dir, "sparse")
	if err := os.WriteFile(sparse, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 8<<40); err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct {
		path  string
		limit int64
		want  string
	}{
		{path, 6, ""},
		{path, 5, ""},
		{path, 4, "it has more than 4 B"},
		{sparse, 16 << 20, "it has more than 16 MiB"},
		{dir, 5, "not a regular file"},
	} {
		b, err := ReadAll(tt.path, tt.limit)
		switch {
		case tt.want == "" && (err != nil || string(b) != "12345"):
			t.Errorf("ReadAll(%s, %d) = %q, %v", tt.path, tt.limit, b, err)
		case tt.want != "" && (err == nil || err.Error() != tt.want):
			t.Errorf("ReadAll(%s, %d) = %q, %v, want %s", tt.path, tt.limit, b, err, tt.want)
		}
	}
	if b, err := ReadAll(sparse, math.MaxInt64); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("ReadAll of 8 TiB without a limit = %d bytes, %v, want %v", len(b), err, driver.ErrMemory)
	}
}

func TestReadFrom(t *testing.T) {
	text := strings.Repeat("0123456789", 1000)
	for what, r := range map[string]io.Reader{
		"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)),
		"EOF with data": iotest.DataErrReader(strings.NewReader(text)),
	} {
		if b, err := ReadFrom(r, 0, 10_000); err != nil || string(b) != text {
			t.Errorf("%s: ReadFrom gives %d bytes, %v", what, len(b), err)
		}
	}
	if _, err := ReadFrom(strings.NewReader(text), 0, 9_999); err == nil || err.Error() != "it has more than 9.8 KiB" {
		t.Errorf("ReadFrom beyond the limit: %v", err)
	}
	if _, err := ReadFrom(strings.NewReader(text), math.MaxInt64, math.MaxInt64); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("ReadFrom of a sparse file: %v, want %v", err, driver.ErrMemory)
	}
	if b, err := ReadFrom(iotest.ErrReader(io.ErrUnexpectedEOF), 0, 10); err != io.ErrUnexpectedEOF {
		t.Errorf("ReadFrom of a broken reader = %q, %v", b, err)
	}
	if b, err := ReadFrom(bytes.NewReader(nil), 0, 0); err != nil || len(b) != 0 {
		t.Errorf("ReadFrom of nothing = %q, %v", b, err)
	}
}

func TestName(t *testing.T) {
	for path, want := range map[string]string{
		"a/b c.png": "a/b c.png", "ä/日本.npy": "ä/日本.npy", `C:\a`: `C:\a`, "": "",
		"a\x1b]0;x\a": `"a\x1b]0;x\a"`, "a\nb": `"a\nb"`, "\xff": `"\xff"`, "a\u202eb": `"a\u202eb"`,
	} {
		if got := Name(path); got != want {
			t.Errorf("Name(%q) = %s, want %s", path, got, want)
		}
	}
}

// An error keeps its chain, and its text is quoted if it has characters that could command a terminal.
func TestQuoted(t *testing.T) {
	plain := errors.New("a plain text")
	bad := fmt.Errorf("x\x1b[2J: %w", fs.ErrNotExist)
	if got := Quoted(plain); got != plain || Quoted(nil) != nil {
		t.Errorf("Quoted changes %v", got)
	}
	if got := Quoted(bad); got.Error() != `"x\x1b[2J: file does not exist"` || !errors.Is(got, fs.ErrNotExist) {
		t.Errorf("Quoted gives %v", got)
	}
}
