// Package goldentext compares text with golden files in tests. A test binary
// that imports it has the flag -update, which writes the files anew.
package goldentext

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files anew")

// Check fails the test where got is not the text of a file.
func Check(t testing.TB, file, got string) {
	t.Helper()
	want := Read(t, file, got)
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s is not what it says now (-file +now); if that is meant, -update writes it:\n%s", file, diff)
	}
}

// Read returns the text of a golden file, after writing got to it if -update
// is given, for tests that compare in their own way.
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
