// Package exampletest compares the output of examples with golden files.
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

// Check compares the standard output of a program's main function with the file
// testdata/output.txt. It ignores the device's name, the last digits of numbers, spaces
// and brackets, because the program chooses its device.
func Check(t *testing.T, main func()) {
	t.Helper()
	CheckWithin(t, main, 1e-4)
}

// CheckWithin is Check with a greatest relative difference of numbers. Rounding errors grow
// while a network is trained, so a program that trains has fewer digits in common with the
// file.
func CheckWithin(t *testing.T, main func(), tolerance float64) {
	t.Helper()
	defer tensor.SetDefault(nil)
	got := output(t, main)
	d := tensor.Default()
	defer d.Close()
	got = strings.ReplaceAll(got, d.String(), tensor.CPU().String())
	want := strings.Split(goldentext.Read(t, "testdata/output.txt", got), "\n")
	lines := strings.Split(got, "\n")
	if len(lines) != len(want) {
		t.Fatalf("the program wrote %d lines, want %d:\n%s", len(lines), len(want), got)
	}
	for i, line := range lines {
		if !similar(line, want[i], tolerance) {
			t.Errorf("line %d of the output is %q, want %q", i+1, line, want[i])
		}
	}
}

// output returns the standard output of a function.
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

// similar reports whether lines have the same words, except for brackets, colons and
// relative differences of numbers up to a tolerance, or of 1 in the last decimal of both, as a
// small difference can round them apart.
func similar(a, b string, tolerance float64) bool {
	between := func(r rune) bool { return strings.ContainsRune(" []{}:,", r) }
	x, y := strings.FieldsFunc(a, between), strings.FieldsFunc(b, between)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		p, err1 := strconv.ParseFloat(x[i], 64)
		q, err2 := strconv.ParseFloat(y[i], 64)
		near := err1 == nil && err2 == nil && math.Abs(p-q) <= tolerance*math.Abs(q)+lastDigit(x[i], y[i])
		if x[i] != y[i] && !near {
			return false
		}
	}
	return true
}

// lastDigit returns the unit of the last decimal that two numbers have in common, with a margin
// for rounding; 0 if they have none or not as many as each other.
func lastDigit(a, b string) float64 {
	unit := func(s string) (decimals, exponent int) {
		mantissa, power, _ := strings.Cut(s, "e")
		_, fraction, _ := strings.Cut(mantissa, ".")
		exponent, _ = strconv.Atoi(power)
		return len(fraction), exponent
	}
	decimals, exponent := unit(a)
	if d, e := unit(b); decimals == 0 || d != decimals || e != exponent {
		return 0
	}
	return 1.01 * math.Pow10(exponent-decimals)
}
