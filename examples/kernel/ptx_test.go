package main

import (
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/ptx/ptxtest"
)

func TestPTX(t *testing.T) {
	if err := ptxtest.Check(strings.ReplaceAll(recurPTX, "CHANNELS", "3")); err != nil {
		t.Error(err)
	}
}
