package drivertest

import (
	"testing"

	"github.com/tensorken/tensorken/internal/ptx/ptxtest"
)

func TestRawTexts(t *testing.T) {
	if err := ptxtest.Check(rawTexts["ptx"]); err != nil {
		t.Error(err)
	}
}
