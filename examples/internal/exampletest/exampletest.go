// Package exampletest tests examples by what they write.
package exampletest

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/tensor"
)

// Check fails the test where what a program's main function writes to standard
// output is not the text of the file testdata/output.txt. The device that the
// program computes on is its own choice, and so are the name of it, the last
// digits of numbers, spaces and brackets.
func Check(t *testing.T, main func()) {
	t.Helper()
	defer tensor.SetDefault(nil)
	got := output(t, main)
	d := tensor.Default()
	defer d.Close()
	got = strings.ReplaceAll(got, d.String(), tensor.CPU().String())
	want := strings.Split(goldentext.Read(t, "testdata/output.txt", got), "\n")
	lines := strings.Split(got, "\n")
	if len(lines) != len(want) {
		t.Fatalf("the program writes %d lines, want %d:\n%s", len(lines), len(want), got)
	}
	for i, line := range lines {
		if !similar(line, want[i]) {
			t.Errorf("line %d that the program writes is %q, want %q", i+1, line, want[i])
		}
	}
}

// output is what a function writes to standard output.
func output(t *testing.T, f func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer func(stdout *os.File) { os.Stdout = stdout }(os.Stdout)
	os.Stdout = file
	f()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// similar reports whether lines have the same words, brackets and colons aside,
// but for the last digits of numbers.
func similar(a, b string) bool {
	between := func(r rune) bool { return strings.ContainsRune(" []{}:", r) }
	x, y := strings.FieldsFunc(a, between), strings.FieldsFunc(b, between)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		p, err1 := strconv.ParseFloat(x[i], 64)
		q, err2 := strconv.ParseFloat(y[i], 64)
		near := err1 == nil && err2 == nil && math.Abs(p-q) <= 1e-4*math.Abs(q)
		if x[i] != y[i] && !near {
			return false
		}
	}
	return true
}
