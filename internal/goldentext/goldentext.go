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

// Diff returns the lines in which two texts differ, with their numbers, by a longest common subsequence of lines.
func Diff(want, got string) string {
	if want == got {
		return ""
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	line := 1 // of w[0]
	for len(w) > 0 && len(g) > 0 && w[0] == g[0] {
		w, g, line = w[1:], g[1:], line+1
	}
	for len(w) > 0 && len(g) > 0 && w[len(w)-1] == g[len(g)-1] {
		w, g = w[:len(w)-1], g[:len(g)-1]
	}
	common := make([][]int32, len(w)+1) // the length of the subsequence of w[i:] and g[j:]
	for i := range common {
		common[i] = make([]int32, len(g)+1)
	}
	for i := len(w) - 1; i >= 0; i-- {
		for j := len(g) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); w[i] == g[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var b strings.Builder
	for i, j := 0, 0; i < len(w) || j < len(g); {
		switch {
		case i < len(w) && j < len(g) && w[i] == g[j]:
			i, j = i+1, j+1
		case j == len(g) || i < len(w) && common[i+1][j] >= common[i][j+1]:
			fmt.Fprintf(&b, "%d - %s\n", line+i, w[i])
			i++
		default:
			fmt.Fprintf(&b, "%d + %s\n", line+i, g[j])
			j++
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
