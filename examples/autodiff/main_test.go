package main

import (
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
)

func TestOutput(t *testing.T) { exampletest.Check(t, main) }
