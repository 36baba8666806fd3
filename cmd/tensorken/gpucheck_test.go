package main

import (
	"testing"

	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/tensor"
)

// TestChecks runs all checks on a CPU that must give the same bits.
func TestChecks(t *testing.T) {
	d := tensor.NewDevice(cpu.New(cpu.Options{Threads: 1}))
	defer d.Close()
	for _, c := range checks {
		r := runCheck(c, d)
		if r.err != nil || r.worst != 0 {
			t.Errorf("%s: off by %v, %v", c.name, r.worst, r.err)
		}
		t.Log(r)
	}
}
