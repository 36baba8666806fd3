package ir

import (
	"slices"
	"strings"
	"testing"
)

// step is a parameter p minus a rate times a mean m, the mean of m and of a gradient g.
func step() *Kernel {
	rows, all := &View{Coef: []int{8, 1}}, AxisSet(3)
	number := func(x float64) Instr { return Instr{Op: Const, Type: Float32, Num: Float(Float32, x)} }
	return &Kernel{
		Template: Pointwise,
		Axes:     []Axis{{4, Parallel}, {6, Parallel}},
		Args: []Arg{
			{Kind: In, DType: Float32}, {Kind: Value, DType: Float32}, {Kind: In, DType: Float32, Align: true}, {Kind: In, DType: Float32},
			{Kind: Out, DType: Float32, Len: 32, Align: true}, {Kind: Out, DType: Float32, Len: 32, Part: true},
		},
		Body: []Instr{
			{Op: Load, Type: Float32, Arg: 3, View: rows, Domain: all},
			{Op: Load, Type: Float32, Arg: 2, View: rows, Domain: all},
			{Op: Add, Type: Float32, Src: []int{0, 1}, Domain: all},
			number(0.5),
			{Op: Mul, Type: Float32, Src: []int{2, 3}, Domain: all},
			{Op: Store, Type: Float32, Src: []int{4}, Arg: 4, View: rows, Domain: all},
			{Op: Scalar, Type: Float32, Arg: 1},
			{Op: Mul, Type: Float32, Src: []int{4, 6}, Domain: all},
			{Op: Load, Type: Float32, Arg: 0, View: rows, Domain: all},
			{Op: Sub, Type: Float32, Src: []int{8, 7}, Domain: all},
			{Op: Store, Type: Float32, Src: []int{9}, Arg: 5, View: rows, Domain: all},
		},
	}
}

// Each argument may become the elements that a result replaces, one after the other.
func TestInPlace(t *testing.T) {
	k := step()
	if err := Verify(k); err != nil {
		t.Fatal(err)
	}
	for _, move := range [][2]int{{4, 2}, {4, 0}} {
		next, ok := k.InPlace(move[0], move[1])
		if !ok {
			t.Fatalf("InPlace(%d, %d) is refused for\n%v", move[0], move[1], k)
		}
		k = next
	}
	want := `
pointwise i0:4 i1:6
a0 value float32
a1 in float32
a2 out float32[32] aligned
a3 out float32[32] part
%0 float32{0 1} = Load a1[8*i0 + i1]
%1 float32{0 1} = Load a2[8*i0 + i1]
%2 float32{0 1} = Add %0 %1
%3 float32{} = Const 0.5
%4 float32{0 1} = Mul %2 %3
%5 float32{0 1} = Store %4 a2[8*i0 + i1]
%6 float32{} = Scalar a0
%7 float32{0 1} = Mul %4 %6
%8 float32{0 1} = Load a3[8*i0 + i1]
%9 float32{0 1} = Sub %8 %7
%10 float32{0 1} = Store %9 a3[8*i0 + i1]
`
	if got := k.String(); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("the kernel in place is\n%s\nwant\n%s", got, want)
	}
	if step().String() == k.String() {
		t.Error("InPlace changes the kernel that it is called on")
	}
}

func TestInPlaceRefuses(t *testing.T) {
	biased := func() *Kernel { // a product plus all of argument 2
		k := matmul()
		k.Body[4].View, k.Body[4].Domain = k.Body[8].View, k.Body[8].Domain
		return k
	}
	for _, c := range []struct {
		name    string
		kernel  func() *Kernel
		change  func(k *Kernel)
		out, in int
		want    bool
	}{
		{"nothing", step, func(*Kernel) {}, 4, 2, true},
		{"a product", biased, func(*Kernel) {}, 3, 2, true},
		{"another view of an axis of length 1", step, func(k *Kernel) {
			k.Axes[0].Len = 1
			k.Body[1].View, k.Body[1].Domain = &View{Coef: []int{0, 1}}, 2
		}, 4, 2, true},
		{"an argument of two results", step, func(k *Kernel) { k.Body[8].Arg = 2 }, 4, 2, true},

		{"a scatter", scatterAdd, func(*Kernel) {}, 0, 1, true},
		{"a scatter's index", scatterAdd, func(*Kernel) {}, 0, 2, false},
		{"a scatter from a constant", scatterAdd, func(k *Kernel) {
			k.Body = slices.Insert(k.Body, 3, Instr{Op: Const, Type: Float32})
			k.Body[4].Src = []int{0, 2, 3}
		}, 0, 1, false},
		{"a base that is an update", scatterAdd, func(k *Kernel) {
			k.Body[2] = Instr{Op: Load, Type: Float32, Arg: 1, View: &View{Coef: []int{3, 1}}}
		}, 0, 1, false},

		{"another offset", step, func(k *Kernel) { k.Body[1].View = &View{Off: 1, Coef: []int{8, 1}} }, 4, 2, false},
		{"another order", step, func(k *Kernel) { k.Body[1].View = &View{Coef: []int{1, 4}} }, 4, 2, false},
		{"guards", step, func(k *Kernel) {
			k.Body[1].View = &View{Coef: []int{8, 1}, Guards: []Guard{{AffineExpr{Coef: []int{1, 0}, Div: 1}, 3, 0}}}
		}, 4, 2, false},
		{"another type", step, func(k *Kernel) { k.Args[2].DType = Float16 }, 4, 2, false},
		{"undefined elements", step, func(k *Kernel) { k.Args[2].Undefined = true }, 4, 2, false},
		{"two stores", step, func(k *Kernel) {
			k.Args[4].Len = 64
			k.Body = append(k.Body, k.Body[5])
			k.Body[11].View = &View{Off: 32, Coef: []int{8, 1}}
		}, 4, 2, false},
		{"a number", step, func(*Kernel) {}, 4, 1, false},
		{"two results", step, func(*Kernel) {}, 4, 5, false},
		{"a load of two elements", step, func(k *Kernel) { k.Body[0].Arg, k.Body[0].View = 2, &View{Off: 1, Coef: []int{8, 1}} }, 4, 2, false},
		{"a factor", matmul, func(k *Kernel) {
			k.Axes[2].Len, k.Axes[3].Len = 1, 5
			k.Args[3].Len = 24
			k.Body[0].View, k.Body[0].Domain = &View{Coef: []int{12, 4, 0, 0}}, 3
			k.Body[8].View = &View{Coef: []int{12, 4, 0, 0}}
		}, 3, 0, false},
		{"a softmax", softmax, func(k *Kernel) { k.Args[0].DType = Float32 }, 1, 0, true},
		{"a softmax and an element of each row", softmax, func(k *Kernel) {
			k.Args[0].DType = Float32
			k.Body = append(k.Body, Instr{Op: Load, Type: Float32, View: &View{Coef: []int{8, 0}}})
		}, 1, 0, false},
		{"a softmax of rows of one element", softmax, func(k *Kernel) { k.Args[0].DType, k.Args[1].Len, k.Axes[1].Len = Float32, 25, 1 }, 1, 0, false},
		{"an index", take, func(k *Kernel) {
			k.Args[1].DType, k.Args[3].DType = Int32, Int32
			k.Body[0].View, k.Body[0].Type, k.Body[1].Type, k.Body[2].Type = &View{Coef: []int{3, 1}}, Int32, Int32, Int32
			k.Args[2].DType, k.Args[3].Len, k.Body[1].View.Fill = Int32, 12, 0
		}, 3, 2, false},
	} {
		k := c.kernel()
		c.change(k)
		for i := range k.Body {
			k.Body[i].Domain = k.Varies(i)
		}
		if err := Verify(k); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, ok := k.InPlace(c.out, c.in); ok != c.want {
			t.Errorf("InPlace of a kernel with %s reports %v, want %v", c.name, ok, c.want)
		}
	}
}
