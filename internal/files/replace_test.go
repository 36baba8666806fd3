package files

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Replace removes the temporary file of a killed process, and nothing else.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m [1].safetensors") // no pattern
	var want []string
	for _, tt := range []struct {
		name  string
		stays bool
	}{
		{"m [1].safetensors.0123abcd.tmp", false},
		{"m [1].safetensors.00000000.tmp", false},
		{"m [1].safetensors.DCBA3210.tmp", true},
		{"m [1].safetensors.0123abc.tmp", true},
		{"m [1].safetensors.0123abcde.tmp", true},
		{"m [1].safetensors.0123abcd.tmp.bak", true},
		{"m [1].safetensors.tmp", true},
		{"m 1.safetensors.0123abcd.tmp", true},
	} {
		name := filepath.Join(dir, tt.name)
		if err := os.WriteFile(name, nil, 0o444); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if tt.stays {
			want = append(want, tt.name)
		}
	}
	folder := filepath.Join(dir, "m [1].safetensors.01234567.tmp")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	live, err := createTemp(path, 0o666) // of a Replace that is not done
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if err := Replace(path, func(w *bufio.Writer) error { return w.WriteByte(1) }); err != nil {
		t.Fatal(err)
	}
	want = append(want, filepath.Base(path), filepath.Base(folder), filepath.Base(live.Name()))
	var got []string
	files, err := os.ReadDir(dir)
	for _, f := range files {
		got = append(got, f.Name())
	}
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("after Replace there are %q, %v, want %q", got, err, want)
	}
}

// The system's error for a path decides whether it is replaced: a refusal is no missing file.
func TestReplacedMode(t *testing.T) {
	for err, want := range map[error]error{fs.ErrNotExist: nil, fs.ErrPermission: fs.ErrPermission} {
		mode, got := replacedMode(nil, &fs.PathError{Op: "stat", Path: "x", Err: err})
		if !errors.Is(got, want) || (got == nil) != (want == nil) || want == nil && mode != 0o666 {
			t.Errorf("replacedMode(%v) = %v, %v, want error %v", err, mode, got, want)
		}
	}
}
