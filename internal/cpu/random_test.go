package cpu

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// pack gives elements as a buffer holds them.
func pack(d ir.DType, x []ir.Number) []byte {
	b := make([]byte, 0, len(x)*d.Size())
	for _, v := range x {
		b = v.Append(b, d)
	}
	return b
}

// unpack is the inverse of pack.
func unpack(d ir.DType, b []byte) []ir.Number {
	x := make([]ir.Number, len(b)/d.Size())
	for i := range x {
		x[i] = ir.Decode(d, b[i*d.Size():])
	}
	return x
}

// runOn runs a kernel on a device and returns all arguments' elements.
func runOn(d driver.Device, k *ir.Kernel, args []interp.Arg) ([][]ir.Number, error) {
	p, err := d.Compile(k)
	if err != nil {
		return nil, err
	}
	call := driver.Call{Program: p}
	for i, a := range args {
		arg := driver.Arg{Offset: a.Offset, Num: a.Num}
		if k.Args[i].Kind != ir.Value {
			b := pack(k.Args[i].DType, a.Data)
			if arg.Buffer, err = d.Alloc(len(b)); err != nil {
				return nil, err
			}
			if err := d.Upload(arg.Buffer, 0, b); err != nil {
				return nil, err
			}
		}
		call.Args = append(call.Args, arg)
	}
	if err := d.Run([]driver.Call{call}); err != nil {
		return nil, err
	}
	var results [][]ir.Number
	for i, a := range call.Args {
		var b []byte
		if a.Buffer != nil {
			b = make([]byte, a.Buffer.Size())
			if err := d.Download(b, a.Buffer, 0); err != nil {
				return nil, err
			}
			a.Buffer.Free()
		}
		results = append(results, unpack(k.Args[i].DType, b))
	}
	return results, nil
}

func near(d ir.DType, got, want ir.Number, exact bool) bool {
	g, w := got.Float64(d), want.Float64(d)
	if g == w || math.IsNaN(g) && math.IsNaN(w) {
		return true
	}
	if exact || !d.IsFloat() {
		return false
	}
	tolerance := 2e-5
	if d.IsHalf() {
		tolerance = 1e-2
	}
	return math.Abs(g-w) <= tolerance*(1+math.Abs(w))
}

// check runs a random kernel on a device and on the interpreter.
func check(t *testing.T, d driver.Device, m *maker, seed uint64) bool {
	t.Helper()
	m.prune()
	reduces := slices.ContainsFunc(m.k.Body, func(in ir.Instr) bool { return in.Op.Class() == ir.Reduction })
	if !reduces && (m.k.Template == ir.Reduce || m.k.Template == ir.Contraction) {
		return true // all that was reduced is pruned
	}
	if err := ir.Verify(m.k); err != nil {
		t.Fatalf("seed %d: %v\n%v", seed, err, m.k)
	}
	want := make([]interp.Arg, len(m.args))
	for i, a := range m.args {
		want[i] = interp.Arg{Data: slices.Clone(a.Data), Offset: a.Offset, Num: a.Num}
	}
	if err := interp.Run(m.k, want); err != nil {
		t.Fatalf("seed %d: %v\n%v", seed, err, m.k)
	}
	got, err := runOn(d, m.k, m.args)
	if err != nil {
		t.Errorf("seed %d: %v\n%v", seed, err, m.k)
		return false
	}
	exact := make([]bool, len(m.args))
	for i := range exact {
		exact[i] = true
	}
	for i, in := range m.k.Body {
		if in.Op == ir.Store && !m.exact[i] {
			exact[in.Arg] = false
		}
	}
	for i, a := range want {
		if m.k.Args[i].Kind == ir.Status && m.k.Points() == 0 {
			continue // whether a load at no point is done is not worth knowing
		}
		for j, w := range a.Data {
			typ := m.k.Args[i].DType
			if !near(typ, got[i][j], w, exact[i]) {
				t.Errorf("seed %d: argument %d, element %d = %v, want %v\n%v", seed, i, j, got[i][j].Text(typ), w.Text(typ), m.k)
				return false
			}
		}
	}
	return true
}

// tunings are the default sizes and such as cut small spaces into pieces.
var tunings = map[string]vector.Tuning{
	"default": vector.DefaultTuning,
	"pieces": {
		MinBlock: 5, MaxBlock: 12, MinRow: 3, TransposeTile: 3, MaxWholeReduction: 30, ParallelThreshold: 64, Threads: 3,
		Rows: 4, Cols: 7, Depth: 5, Span: 12, Panel: 100, DotDepth: 1, FewRows: 16, LoopBytes: 1 << 20, Conflict: 12, MaxShared: 200, MinTiles: 100, MinPart: 3,
	},
	"streams": {
		MinBlock: 16, MaxBlock: 40, MinRow: 1, TransposeTile: 1, MaxWholeReduction: 0, ParallelThreshold: 1, Threads: 5, CopyCost: 0.25, LateShare: 0.1,
		Rows: 10, Cols: 4, Depth: 16, Span: 10, Panel: 1, DotDepth: 2, FewRows: 16, LoopBytes: 1 << 20, Conflict: 4, MaxShared: 1 << 20, MinTiles: 1, MinPart: 1,
	},
}

func TestRandomKernels(t *testing.T) {
	n := uint64(400)
	if testing.Short() {
		n = 50
	}
	for _, c := range []struct {
		name string
		make func(uint64) *maker
	}{{"map", makeMap}, {"row", makeRow}, {"contract", makeContract}, {"scatter", makeScatter}} {
		for name, tune := range tunings {
			t.Run(fmt.Sprint(c.name, " ", name), func(t *testing.T) {
				d := New(Options{Threads: 3, Memory: 1 << 30}).(*device)
				d.Tune = tune
				bad := 0
				for seed := range n {
					if !check(t, d, c.make(seed), seed) {
						if bad++; bad == 3 {
							break
						}
					}
				}
				if held := d.held.Load(); held != 0 {
					t.Errorf("%d bytes held in the end", held)
				}
			})
		}
	}
}
