//go:build amd64 || arm64

package dynlib

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tensorken/tensorken/internal/dynlib/dynlibtest"
)

// A library is loaded from each absolute path, and not by a relative one to it.
func TestOpenPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, path := range map[string]string{
		"plain.dll":    filepath.Join(dir, "plain.dll"),
		"blanks a.dll": filepath.Join(dir, "blanks a.dll"),
		"slashes.dll":  filepath.ToSlash(dir) + "/slashes.dll",
		"日本😀.dll":      filepath.Join(dir, "日本😀.dll"),
		"verbatim.dll": `\\?\` + filepath.Join(dir, "verbatim.dll"),
		"no end":       filepath.Join(dir, "no end"),
		filepath.Join(strings.Repeat("long", 50), "long.dll"): filepath.Join(dir, strings.Repeat("long", 50), "long.dll"),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, dynlibtest.Empty(), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, relative := range []string{name, `.\` + name, filepath.VolumeName(dir) + name, path[len(filepath.VolumeName(path)):]} {
			if _, err := Open(relative); err == nil {
				t.Errorf("Open(%s): no error", relative)
			}
			if _, err := OpenSystem(relative); err == nil {
				t.Errorf("OpenSystem(%s): no error", relative)
			}
		}
		h, err := Open(path)
		if err != nil {
			t.Errorf("Open(%s): %v", path, err)
		}
		syscall.FreeLibrary(syscall.Handle(h))
	}
}
