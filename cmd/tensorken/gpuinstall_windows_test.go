package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tensorken/tensorken/internal/dynlib"
	"github.com/tensorken/tensorken/internal/dynlib/dynlibtest"
)

// TestInstallInUse replaces a library that a program has loaded, then one that none has.
func TestInstallInUse(t *testing.T) {
	data, integrity := pack(t, "package/LICENSE", "free", "package/dawn.dll", string(dynlibtest.Empty()))
	i := installer{map[string]libraryPackage{"good/1": {"dawn-good", "1.0.0", "dawn.dll", integrity}}, "good/1", t.TempDir()}
	from := write(t, "dawn.tgz", string(data))
	library, err := i.install(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	h, err := dynlib.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(i.dir, "dawn.dll") + ": another program has it open: close it there, and try again"
	if _, err := i.install(t.Context(), from); err == nil || err.Error() != want {
		t.Errorf("install in place of a loaded library: %v, want %s", err, want)
	}
	if got, err := os.ReadFile(library); string(got) != string(dynlibtest.Empty()) {
		t.Errorf("the library has %d bytes, %v", len(got), err)
	}
	syscall.FreeLibrary(syscall.Handle(h))
	if _, err := i.install(t.Context(), from); err != nil {
		t.Errorf("install in place of a library that is no longer loaded: %v", err)
	}
	entries, err := os.ReadDir(i.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("install leaves %s, %v", e.Name(), err)
		}
	}
}
