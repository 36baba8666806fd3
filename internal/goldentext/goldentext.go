// Package goldentext compares text with golden files in tests. The flag -update of a test
// binary that imports it rewrites the files.
package goldentext

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Check fails the test unless got is the text of a file.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if diff := Diff(Read(t, file, got), got); diff != "" {
		t.Errorf("%s differs (-file +got); if the change is intended, run the test with -update:\n%s", file, diff)
	}
}

// Diff returns the lines in which two texts differ, from the first to the last one.
func Diff(want, got string) string {
	if want == got {
		return ""
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	line := 1
	for len(w) > 0 && len(g) > 0 && w[0] == g[0] {
		w, g, line = w[1:], g[1:], line+1
	}
	for len(w) > 0 && len(g) > 0 && w[len(w)-1] == g[len(g)-1] {
		w, g = w[:len(w)-1], g[:len(g)-1]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "from line %d on\n", line)
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"-", w}, {"+", g}} {
		for _, l := range side.lines {
			b.WriteString(side.sign + l + "\n")
		}
	}
	return b.String()
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
