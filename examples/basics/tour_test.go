package main

import (
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
)

func TestOutput(t *testing.T) {
	got := output(t)
	if want := goldentext.Read(t, "testdata/output.txt", got); !same(got, want) {
		t.Errorf("output is\n%s\nwant\n%s", got, want)
	}
}

// output is what main prints.
func output(t *testing.T) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	main()
	os.Stdout = stdout
	w.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// same reports whether two outputs differ at most in the last digits of their
// numbers: normals and exponentials are a device's own there.
func same(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		p, err1 := strconv.ParseFloat(strings.Trim(x[i], "[]"), 64)
		q, err2 := strconv.ParseFloat(strings.Trim(y[i], "[]"), 64)
		if err1 != nil || err2 != nil {
			if x[i] != y[i] {
				return false
			}
		} else if math.Abs(p-q) > 1e-4*math.Abs(q) {
			return false
		}
	}
	return true
}
