package cachedir

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// Read returns Write's data, and nothing else.
func TestReadWrite(t *testing.T) {
	setCache(t, private(t))
	path := Path(filepath.Join("cuda", "ab", "cd.cubin"))
	data := bytes.Repeat([]byte("code"), 100)
	if err := Write(path, data); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(whole)
	changed[7] ^= 1
	for _, c := range []struct {
		name string
		text []byte
		ok   bool
	}{
		{"whole", whole, true},
		{"empty", nil, false},
		{"cut to 100 bytes", whole[:100], false},
		{"without its last byte", whole[:len(whole)-1], false},
		{"longer", append(bytes.Clone(whole), 'x'), false},
		{"changed", changed, false},
		{"without a trailer", data, false},
		{"of another version", append(bytes.Clone(data), make([]byte, trailerLen)...), false},
	} {
		if err := os.WriteFile(path, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path, len(data))
		if (err == nil) != c.ok || c.ok && !bytes.Equal(got, data) {
			t.Errorf("Read of a file that is %s: %q, %v", c.name, got, err)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(path, len(data)-1); err == nil {
		t.Errorf("Read of more bytes than are allowed: %d, no error", len(got))
	}
	other := filepath.Join(filepath.Dir(path), "other.cubin")
	if err := os.Rename(path, other); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(other, len(data)); err == nil {
		t.Error("Read of a file with another's name: no error")
	}
	if _, err := Read(path, len(data)); !os.IsNotExist(err) {
		t.Errorf("Read of no file: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

// A file that is read counts as new for Trim.
func TestReadKeeps(t *testing.T) {
	setCache(t, private(t))
	path := Path("file")
	if err := Write(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-100 * 24 * time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, 1); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("after Read the file is of %v, %v", info.ModTime(), err)
	}
}

// A file that others may change is not read.
func TestReadForeign(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of Windows do not tell others' rights")
	}
	setCache(t, private(t))
	path := Path("file")
	if err := Write(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		mode os.FileMode
		ok   bool
	}{{path, 0o644, true}, {path, 0o620, false}, {path, 0o602, false}, {Path(""), 0o755, true}, {Path(""), 0o775, false}} {
		if err := os.Chmod(c.path, c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path, 1); (err == nil) != c.ok {
			t.Errorf("Read where %s has mode %o: %v", c.path, c.mode, err)
		}
		if err := os.Chmod(c.path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
