package scheduletest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs are made by the packages that a change of them makes unknown.
func TestSources(t *testing.T) {
	s := sources{deps: true}
	if err := s.add("internal/schedule", "internal/schedule/scheduletest"); err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields("ir internal/loopnest internal/ptx internal/schedule internal/schedule/attention internal/schedule/build internal/schedule/scheduletest internal/shader internal/wgsl") {
		if _, ok := s.folds[f]; !ok {
			t.Errorf("%s is missing", f)
		}
	}
	for _, f := range strings.Fields("internal/exec internal/kernelize tensor") {
		if _, ok := s.folds[f]; ok {
			t.Errorf("%s makes no programs", f)
		}
	}
}

// Embedded data count, and the formats of blocks, which makers of programs know by registration alone. Comments do not.
func TestSourcesOfData(t *testing.T) {
	folder, err := filepath.Abs(root)
	if err == nil {
		folder, err = filepath.Rel(folder, t.TempDir())
	}
	if err != nil {
		t.Fatal(err)
	}
	hash := func(code, data string) string {
		for name, text := range map[string]string{"a.go": code, "a.bin": data} {
			if err := os.WriteFile(filepath.Join(root, folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var s sources
		if err := s.add(folder); err != nil {
			t.Fatal(err)
		}
		return s.String()
	}
	first := hash("package a\n", "1")
	if hash("// A comment.\npackage a\n", "1") != first {
		t.Error("a comment counts")
	}
	if hash("package a\n", "2") == first || hash("package a\n\nvar x int\n", "1") == first {
		t.Error("data or code do not count")
	}
	var s sources
	if err := s.add(tested...); err != nil || s.folds["internal/blocks"] == [32]byte{} {
		t.Error("formats of blocks do not count", err)
	}
}
