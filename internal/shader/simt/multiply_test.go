package simt_test

import (
	"encoding/binary"
	"math"
	"testing"

	. "github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// left and right are elements of the matrices in TestMultiply, which all types have.
func left(row, k int) int  { return (3*row+k)%7 - 3 }
func right(k, col int) int { return (5*k+2*col)%5 - 2 }

// Two warps multiply matrices; the second one's left matrix has rows from 16 on.
func TestMultiply(t *testing.T) {
	for _, c := range []struct {
		elem Matrix
		half Type
	}{{TF32, F32}, {F16Pairs, F16}, {BF16Pairs, BF16}} {
		out := &Buffer{Name: "out", Type: ir.Float32, Write: true}
		body := &Block{}
		p := &Pass{Threads: 64, Grid: [3]int{1, 1, 1}, Subgroup: 32, Body: body, Buffers: []*Buffer{out}}
		lane, warp := ThreadID.Rem(32), ThreadID.Div(32)
		place, column := lane.Div(4), lane.Rem(4)
		modulo := func(x *Expr, n, less int) *Expr { return x.Rem(n).Convert(I32).Sub(less).Convert(F32) }
		a := func(row, k *Expr) *Expr { return modulo(row.Mul(3).Add(k), 7, 3) }
		b := func(k, col *Expr) *Expr { return modulo(k.Mul(5).Add(col.Mul(2)), 5, 2) }
		word := func(at *Expr, element func(k *Expr) *Expr) *Expr {
			if c.elem == TF32 {
				return element(at).Bitcast(U32).Or(1<<13 - 1) // which does not count
			}
			return PackHalves(c.half, element(at.Mul(2)), element(at.Mul(2).Add(1)))
		}
		row := warp.Mul(16).Add(place)
		acc := body.Var("acc", Vec(4, Number(F32, 1)))
		m := &Multiply{Elem: c.elem, Acc: acc}
		for i := range m.A {
			m.A[i] = word(column.Plus(4*(i/2)), func(k *Expr) *Expr { return a(row.Plus(8*(i%2)), k) })
		}
		for i := range m.B {
			m.B[i] = word(column.Plus(4*i), func(k *Expr) *Expr { return b(k, place) })
		}
		body.Do(m)
		for i := range 4 {
			at := row.Plus(8 * (i / 2)).Mul(8).Add(column.Mul(2)).Plus(i % 2)
			body.Do(&Store{Buffer: out, Index: at, Values: []*Expr{acc.Ref().At(i)}})
		}
		program := &Program{Passes: []*Pass{p}}
		if err := simt.Verify(program); err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 4*32*8)
		if err := simt.Compile(program).Run([]simt.Arg{{Data: data}}); err != nil {
			t.Fatal(err)
		}
		for i := range 32 * 8 {
			want := 1
			for k := range c.elem.Depth() {
				want += left(i/8, k) * right(k, i%8)
			}
			if got := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])); got != float32(want) {
				t.Fatalf("%v: (%d, %d) is %v, want %d", c.half, i/8, i%8, got, want)
			}
		}
	}
}
