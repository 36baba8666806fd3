package tiles

import (
	le "encoding/binary"
	"testing"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Each eight threads that follow each other find their vectors in different banks of shared
// memory, of 16 bytes each: those that read a tile of warps, and those that write one, or one in
// lines of 64, in either direction.
func TestBanks(t *testing.T) {
	const threads = 128
	f := &Factor{Side: &product.Side{}, Block: 128}
	id := shader.ThreadID
	across := func(alongK bool, n int) *load { // n blocks in the direction of lines
		f.AlongK = alongK
		return &load{q: id.Rem(n), u: id.Div(n)}
	}
	load := across(true, 4)
	aside := across(false, 32)
	for name, at := range map[string]func() *shader.Expr{
		"readers":                func() *shader.Expr { return vectorOf(f, id.Div(8), id.And(3), id.Div(4).And(1)) },
		"writers, depth":         func() *shader.Expr { return vectorOf(f, load.u, load.q, build.U32(0)) },
		"writers, side":          func() *shader.Expr { return vectorOf(f, aside.q, aside.u, build.U32(1)) },
		"writers, lines, depth":  func() *shader.Expr { return lineAt(f, across(true, 8)) },
		"writers, lines, side":   func() *shader.Expr { return lineAt(f, across(false, 16)) },
		"writers, lines, narrow": func() *shader.Expr { return lineAt(f, across(false, 8)) },
		"results":                func() *shader.Expr { return resultAt(id.Div(4), id.And(3), 16) },
		"results, two rows":      func() *shader.Expr { return resultAt(id.Div(4).Mul(2).Plus(1), id.And(3), 16) },
		"results, readers":       func() *shader.Expr { return resultAt(id.Div(16), id.And(15), 16) },
		"halves":                 func() *shader.Expr { return halvesAt(id, build.U32(3), 8) },
		"halves, readers":        func() *shader.Expr { return halvesAt(id.Div(8), id.And(7), 8) },
		"writers, floats, depth": func() *shader.Expr { return vectorOfFloats(f, across(true, 2), 1) },
		"writers, floats, side":  func() *shader.Expr { return vectorOfFloats(f, across(false, 16), 3) },
	} {
		out := &shader.Buffer{Name: "out", Type: ir.Uint32, Write: true}
		body := &shader.Block{}
		body.Do(&shader.Store{Buffer: out, Index: id, Values: []*shader.Expr{at()}})
		p := &shader.Program{Passes: []*shader.Pass{{Threads: threads, Grid: [3]int{1, 1, 1}, Body: body, Buffers: []*shader.Buffer{out}}}}
		data := make([]byte, 4*threads)
		if err := simt.Compile(p).Run([]simt.Arg{{Data: data}}); err != nil {
			t.Fatal(err)
		}
		for first := 0; first < threads; first += 8 {
			banks := map[uint32]bool{}
			for i := range 8 {
				banks[le.LittleEndian.Uint32(data[4*(first+i):])%8] = true
			}
			if len(banks) != 8 {
				t.Errorf("%s: threads %d to %d meet in %d banks", name, first, first+7, len(banks))
			}
		}
	}
}
