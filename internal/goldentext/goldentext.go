// Package goldentext compares text with golden files in tests. The flag -update of a test
// binary that imports it rewrites the files.
package goldentext

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Check fails the test unless got is the text of a file.
func Check(t testing.TB, file, got string) {
	t.Helper()
	want := Read(t, file, got)
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-file +got); if the change is intended, run the test with -update:\n%s", file, diff)
	}
}

// Read returns the text of a golden file, which -update sets to got. It is for tests that
// compare in their own way.
func Read(t testing.TB, file, got string) string {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(want)
}
