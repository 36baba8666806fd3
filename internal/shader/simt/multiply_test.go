package simt_test

import (
	"encoding/binary"
	"math"
	"strings"
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

// A groupSample multiplies 128 rows by 24 columns of 64 halves or 32 floats: by two groups of
// threads, each 64 rows. Tiles are copied from a buffer, where vectors of 16 bytes of the left
// matrix and then of the right one follow each other.
type groupSample struct {
	pass  *Pass
	data  [][]byte
	depth int
}

const groupCols = 24

// newGroupSample makes the program; change may change its statements.
func newGroupSample(elem Matrix, leftAside, rightAside bool, change func(list []Stmt) []Stmt) *groupSample {
	depth, stored := 64, ir.Float16
	if elem == TF32 {
		depth, stored = 32, ir.Float32
	}
	in, out := &Buffer{Name: "in", Type: stored}, &Buffer{Name: "out", Arg: 1, Type: ir.Float32, Write: true}
	const leftVectors, rightVectors = 128 * 8, 64 * 8
	tiles := [2]*Shared{
		{Name: "w0", Type: U32.Vec(4), Len: leftVectors, Align: 1024}, {Name: "w1", Type: U32.Vec(4), Len: rightVectors, Align: 1024},
	}
	body := &Block{}
	s := &groupSample{depth: depth, pass: &Pass{Threads: 256, Grid: [3]int{1, 1, 1}, Body: body, Buffers: []*Buffer{in, out}, Shared: tiles[:]}}
	s.data = [][]byte{make([]byte, 16*(leftVectors+rightVectors)), make([]byte, 4*128*groupCols)}
	fill := func(at, sides int, aside bool, element func(side, k int) int) {
		for side := range sides {
			for k := range depth {
				line, place := side, k
				if aside {
					line, place = side/64*64+k, side%64
				}
				x, to := float32(element(side, k)), s.data[0][16*(at+8*line)+place*stored.Size():]
				if elem == TF32 {
					binary.LittleEndian.PutUint32(to, math.Float32bits(x))
				} else {
					binary.LittleEndian.PutUint16(to, uint16(ir.ToF16(x)))
				}
			}
		}
	}
	fill(0, 128, leftAside, left)
	fill(leftVectors, groupCols, rightAside, func(side, k int) int { return right(k, side) })
	for i, n := range []int{leftVectors, rightVectors} {
		for from := 0; from < n; from += 256 {
			vector := ThreadID.Plus(from)
			line := vector.Div(8)
			to := line.Mul(8).Add(vector.And(7).Xor(line.And(7)))
			body.Do(&CopyAsync{Shared: tiles[i], To: to, Buffer: in, Index: vector.Plus(i * leftVectors).Mul(depth / 8)})
		}
	}
	group := &MultiplyGroup{}
	var acc []*Var
	for j := range groupCols / 8 {
		acc = append(acc, body.Var("acc"+string(rune('0'+j)), Vec(4, Number(F32, 1))))
	}
	for k := 0; k < depth; k += elem.Depth() {
		group.Products = append(group.Products, MultiplyShared{
			Elem: elem, Acc: acc,
			A: SharedMatrix{Shared: tiles[0], First: ThreadID.Div(128).Mul(512), AlongSide: leftAside, Depth: k},
			B: SharedMatrix{Shared: tiles[1], First: Number(U32, 0), AlongSide: rightAside, Depth: k},
		})
	}
	body.Do(change([]Stmt{&CopyCommit{}, &CopyWait{}, &Fence{}, &Barrier{}, group})...)
	lane := ThreadID.Rem(32)
	for j, acc := range acc {
		for i := range 4 {
			row := ThreadID.Div(32).Mul(16).Add(lane.Div(4)).Plus(8 * (i / 2))
			body.Do(&Store{Buffer: out, Index: row.Mul(groupCols).Add(lane.Rem(4).Mul(2)).Plus(8*j + i%2), Values: []*Expr{acc.Ref().At(i)}})
		}
	}
	return s
}

func (s *groupSample) run() error {
	program := &Program{Passes: []*Pass{s.pass}}
	if err := simt.Verify(program); err != nil {
		return err
	}
	return simt.Compile(program).Run([]simt.Arg{{Data: s.data[0]}, {Data: s.data[1]}})
}

// right reports whether the results are the product, added to a number.
func (s *groupSample) right(add int) bool {
	for i := range 128 * groupCols {
		want := add
		for k := range s.depth {
			want += left(i/groupCols, k) * right(k, i%groupCols)
		}
		if math.Float32frombits(binary.LittleEndian.Uint32(s.data[1][4*i:])) != float32(want) {
			return false
		}
	}
	return true
}

func TestMultiplyGroup(t *testing.T) {
	for _, aside := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		s := newGroupSample(F16Pairs, aside[0], aside[1], func(list []Stmt) []Stmt { return list })
		if err := s.run(); err != nil || !s.right(1) {
			t.Errorf("along the side %v: error %v, or another product", aside, err)
		}
	}
	s := newGroupSample(TF32, false, false, func(list []Stmt) []Stmt { return list })
	if err := s.run(); err != nil || !s.right(1) {
		t.Errorf("of TF32: error %v, or another product", err)
	}
	s = newGroupSample(TF32, false, false, func(list []Stmt) []Stmt {
		list[4].(*MultiplyGroup).Products[0].Init = true
		return list
	})
	if err := s.run(); err != nil || !s.right(0) {
		t.Errorf("with an Init: error %v, or another product", err)
	}
}

// A left factor in registers, as loaded from where its tile would be.
func TestMultiplyGroupHeld(t *testing.T) {
	for _, elem := range []Matrix{TF32, F16Pairs} {
		s := newGroupSample(elem, false, elem != TF32, holdLeft)
		if err := s.run(); err != nil || !s.right(1) {
			t.Errorf("type %d: error %v, or another product", elem, err)
		}
	}
}

// holdLeft loads the left factor before the products.
func holdLeft(list []Stmt) []Stmt {
	var words []Stmt
	group := list[4].(*MultiplyGroup)
	lane := ThreadID.Rem(32)
	for i := range group.Products {
		m := &group.Products[i]
		for w := range 4 { // rows of the warp, eight apart, and words, four apart
			row := ThreadID.Div(32).Mul(16).Add(lane.Div(4)).Plus(w % 2 * 8)
			word := lane.Rem(4).Plus(m.A.Depth*8/m.Elem.Depth() + w/2*4)
			vector := row.Mul(8).Add(word.Div(4).Xor(row.And(7)))
			v := &Var{Name: "left" + string(rune('0'+i)) + string(rune('0'+w)), Type: U32}
			words = append(words, &Declare{Var: v, Value: choose(m.A.Shared.At(vector), word.Rem(4))})
			m.Left = append(m.Left, v.Ref())
		}
		m.A = SharedMatrix{}
	}
	return append(append(list[:4:4], words...), group)
}

// choose is component i of a vector of four.
func choose(v, i *Expr) *Expr {
	return i.Eq(0).If(v.At(0), i.Eq(1).If(v.At(1), i.Eq(2).If(v.At(2), v.At(3))))
}

// Without one of its statements the program is wrong, and most often found to be.
func TestMultiplyGroupFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(list []Stmt) []Stmt
		err    string // "": the results are wrong
	}{
		{"no wait for copies", func(list []Stmt) []Stmt { return append(list[:1:1], list[2:]...) }, "does not wait for a copy"},
		{"no barrier", func(list []Stmt) []Stmt { return append(list[:3:3], list[4]) }, "wrote in"},
		{"no fence", func(list []Stmt) []Stmt { return append(list[:2:2], list[3:]...) }, "without a Fence"},
		{"results before the products end", func(list []Stmt) []Stmt {
			list[4].(*MultiplyGroup).Pending = 1
			return list
		}, ""},
		{"a tile that changes", func(list []Stmt) []Stmt {
			g := list[4].(*MultiplyGroup)
			g.Pending = 1
			w := g.Products[0].B.Shared
			return append(list, &Barrier{}, &StoreShared{Shared: w, Index: ThreadID, Value: Vec(4, ThreadID)}, &Barrier{}, &MultiplyGroup{})
		}, "multiplies a tile that changes meanwhile"},
		{"a tile from within eight lines", first(func(m *MultiplyShared) { m.B.First = Number(U32, 8) }), "multiplies a tile from vector 8 on"},
		{"a place within a product", first(func(m *MultiplyShared) { m.B.Depth = 4 }), "place 4 of the depth"},
	} {
		for _, elem := range []Matrix{TF32, F16Pairs} {
			s := newGroupSample(elem, false, false, c.change)
			err := s.run()
			switch {
			case c.err == "" && (err != nil || s.right(1)):
				t.Errorf("%s: error %v, or the right product", c.name, err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("%s: error %v, want %s", c.name, err, c.err)
			}
		}
	}
	s := newGroupSample(TF32, false, true, func(list []Stmt) []Stmt { return list })
	if err := s.run(); err == nil || !strings.Contains(err.Error(), "a factor of TF32 along the side") {
		t.Errorf("of TF32 along the side: error %v", err)
	}
}

// first changes the first product.
func first(change func(m *MultiplyShared)) func(list []Stmt) []Stmt {
	return func(list []Stmt) []Stmt {
		change(&list[4].(*MultiplyGroup).Products[0])
		return list
	}
}
