package main

import (
	"testing"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/examples/web/internal/page/pagetest"
	"github.com/tensorken/tensorken/internal/bench"
)

type row struct {
	Op, Device     string
	N, Left, Total int
	Seconds        float64
}

// A comparison measures each operation at each size, in order, and can be stopped.
func TestProgram(t *testing.T) {
	v := pagetest.Start(t, serve)
	v.Send("run", request{Sizes: []int{16, 32}, Devices: []string{page.CPU}, Milliseconds: 1})
	total := 2 * len(bench.Ops)
	for i := range total {
		r := pagetest.Wait[row](v, "row")
		if r.Op != bench.Ops[i/2].Name || r.N != 16<<(i%2) || r.Device != page.CPU || !(r.Seconds > 0) || r.Left != total-1-i || r.Total != total {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if !pagetest.Wait[bool](v, "done") {
		t.Error("not all is measured")
	}
	v.Send("run", request{Sizes: []int{16, 32}, Devices: []string{page.CPU}, Milliseconds: 100})
	pagetest.Wait[row](v, "row")
	v.Send("stop", nil)
	if pagetest.Wait[bool](v, "done") {
		t.Error("all is measured, although it was stopped")
	}
	v.Send("run", request{Sizes: []int{3}, Devices: []string{page.CPU}})
	if e := pagetest.Wait[string](v, "error"); e != "bench: size 3, want an even one" {
		t.Errorf("error %q", e)
	}
}

// Without the GPU the comparison continues on the CPU.
func TestLoss(t *testing.T) {
	t.Setenv("TENSORKEN_WEBGPU_LIB", "/none")
	v := pagetest.Start(t, serve)
	v.Send("run", request{Sizes: []int{16}, Devices: []string{page.GPU, page.CPU}, Milliseconds: 1})
	if m := pagetest.Wait[map[string]string](v, "reopened"); m["device"] != page.CPU || m["cause"] == "" {
		t.Errorf("reopened %v", m)
	}
	for i, op := range bench.Ops {
		if r := pagetest.Wait[row](v, "row"); r.Op != op.Name || r.Device != page.CPU || r.Left != len(bench.Ops)-1-i {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if !pagetest.Wait[bool](v, "done") {
		t.Error("not all is measured")
	}
}

// Only the first stop of a comparison tells the page.
func TestStop(t *testing.T) {
	v := pagetest.Start(t, func(port *page.Port) {
		p := &program{port: port}
		if err := p.run(request{Sizes: []int{16, 32}, Devices: []string{page.CPU}, Milliseconds: 1}); err != nil {
			port.Send("error", err.Error())
		}
		p.stop()
		p.stop()
		port.Send("done", true)
	})
	if pagetest.Wait[bool](v, "done") {
		t.Error("all is measured, although it was stopped")
	}
	if !pagetest.Wait[bool](v, "done") {
		t.Error("a second stop says that it was stopped")
	}
}
