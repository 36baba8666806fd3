package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// CONTRIBUTING.md names Go and Python files by their path from the root of the module: all
// exist.
func TestContributingNamesFiles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	paths := regexp.MustCompile("`([^` ]+\\.(?:go|py))`").FindAllSubmatch(text, -1)
	if len(paths) < 30 {
		t.Fatalf("%d files named, want at least 30: the expression misses them", len(paths))
	}
	for _, p := range paths {
		if _, err := os.Stat(filepath.Join(root, string(p[1]))); err != nil {
			t.Errorf("CONTRIBUTING.md names %s, which does not exist", p[1])
		}
	}
}
