package main

import (
	"testing"

	"github.com/tensorken/tensorken/internal/exampletest"
)

func TestOutput(t *testing.T) { exampletest.Check(t, main) }
