package main

import (
	"bytes"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
)

func TestOutput(t *testing.T) {
	var out bytes.Buffer
	eye(&out, 3)
	goldentext.Check(t, "testdata/output.txt", out.String())
}
