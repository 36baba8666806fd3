package ir

import (
	"strings"
	"testing"
)

// softmax is over the rows of a 4×8 matrix.
func softmax() *Kernel {
	at := &View{Coef: []int{8, 1}}
	return &Kernel{
		Template: Reduce,
		Axes:     []Axis{{4, Parallel}, {8, Reduced}},
		Args:     []Arg{{Kind: In, DType: Float16}, {Kind: Out, DType: Float32, Len: 32, Align: true}},
		Body: []Instr{
			{Op: Load, Type: Float32, Arg: 0, View: at, Domain: 3},
			{Op: ReduceMax, Type: Float32, Src: []int{0}, Axes: 2, Domain: 1},
			{Op: Sub, Type: Float32, Src: []int{0, 1}, Domain: 3},
			{Op: Exp, Type: Float32, Src: []int{2}, Domain: 3},
			{Op: Sum, Type: Float32, Src: []int{3}, Axes: 2, Domain: 1},
			{Op: Div, Type: Float32, Src: []int{3, 4}, Domain: 3},
			{Op: Store, Type: Float32, Src: []int{5}, Arg: 1, View: at, Domain: 3},
		},
	}
}

// matmul is relu(x·wᵀ + b) of two batches: x 2×3×5, w 4×5, b 4.
func matmul() *Kernel {
	return &Kernel{
		Template: Contraction,
		Axes:     []Axis{{2, Batch}, {3, M}, {4, N}, {5, K}},
		Args: []Arg{
			{Kind: In, DType: Float32}, {Kind: In, DType: Float32}, {Kind: In, DType: Float32},
			{Kind: Out, DType: Float32, Len: 24},
		},
		Body: []Instr{
			{Op: Load, Type: Float32, Arg: 0, View: &View{Coef: []int{15, 5, 0, 1}}, Domain: 0b1011},
			{Op: Load, Type: Float32, Arg: 1, View: &View{Coef: []int{0, 0, 5, 1}}, Domain: 0b1100},
			{Op: Mul, Type: Float32, Src: []int{0, 1}, Domain: 0b1111},
			{Op: Sum, Type: Float32, Src: []int{2}, Axes: 0b1000, Domain: 0b0111},
			{Op: Load, Type: Float32, Arg: 2, View: &View{Coef: []int{0, 0, 1, 0}}, Domain: 0b0100},
			{Op: Add, Type: Float32, Src: []int{3, 4}, Domain: 0b0111},
			{Op: Const, Type: Float32},
			{Op: Max, Type: Float32, Src: []int{5, 6}, Domain: 0b0111},
			{Op: Store, Type: Float32, Src: []int{7}, Arg: 3, View: &View{Coef: []int{12, 4, 1, 0}}, Domain: 0b0111},
		},
	}
}

// padded multiplies a vector of 3, parted by zeros and reversed, by a number,
// and is -1 outside of it.
func padded() *Kernel {
	guards := []Guard{{AffineExpr{Off: 5, Coef: []int{-1}, Div: 2}, 3, 1}}
	return &Kernel{
		Template: Pointwise,
		Axes:     []Axis{{8, Parallel}},
		Args:     []Arg{{Kind: In, DType: Int32}, {Kind: Value, DType: Int32}, {Kind: Out, DType: Int32, Len: 8}},
		Body: []Instr{
			{Op: Load, Type: Int32, Arg: 0, View: &View{Off: 0, Coef: []int{0}, Guards: guards}, Domain: 1},
			{Op: Scalar, Type: Int32, Arg: 1},
			{Op: Mul, Type: Int32, Src: []int{0, 1}, Domain: 1},
			{Op: InBounds, Type: Bool, View: &View{Guards: guards}, Domain: 1},
			{Op: Const, Type: Int32, Num: Int(Int32, -1)},
			{Op: Where, Type: Int32, Src: []int{3, 2, 4}, Domain: 1},
			{Op: Store, Type: Int32, Src: []int{5}, Arg: 2, View: &View{Coef: []int{1}}, Domain: 1},
		},
	}
}

// take is a row of 3 for each of 4 indices.
func take() *Kernel {
	return &Kernel{
		Template: Pointwise,
		Axes:     []Axis{{4, Parallel}, {3, Parallel}},
		Args: []Arg{
			{Kind: Status, DType: Int32}, {Kind: In, DType: Float32}, {Kind: In, DType: Int64},
			{Kind: Out, DType: Float32, Len: 12},
		},
		Body: []Instr{
			{Op: Load, Type: Int64, Arg: 2, View: &View{Coef: []int{1, 0}}, Domain: 1},
			{Op: Load, Type: Float32, Src: []int{0}, Arg: 1, View: &View{Coef: []int{0, 1}, Stride: 3, Len: 5, Fill: Float(Float32, 9)}, Domain: 3},
			{Op: Store, Type: Float32, Src: []int{1}, Arg: 3, View: &View{Coef: []int{3, 1}}, Domain: 3},
		},
	}
}

// scatterAdd adds 4 rows of 3 to 5 at indices.
func scatterAdd() *Kernel {
	return &Kernel{
		Template: Routine,
		Axes:     []Axis{{4, Parallel}, {3, Parallel}},
		Args: []Arg{
			{Kind: Out, DType: Float32, Len: 15}, {Kind: In, DType: Float32}, {Kind: In, DType: Int32},
			{Kind: Status, DType: Int32},
		},
		Body: []Instr{
			{Op: Load, Type: Int32, Arg: 2, View: &View{Coef: []int{1, 0}}, Domain: 1},
			{Op: Index, Type: Int32, Axis: 1, Domain: 2},
			{Op: Cast, Type: Float32, Src: []int{1}, Domain: 2},
			{Op: Scatter, Type: Float32, Kind: Add, Src: []int{0, 2}, Arg: 0, View: &View{Coef: []int{0, 1}, Stride: 3, Len: 5}, Domain: 3},
		},
	}
}

var kernels = []struct {
	name   string
	kernel func() *Kernel
	text   string
}{
	{"softmax", softmax, `
reduce i0:4 i1:8 reduced
a0 in float16
a1 out float32[32] aligned
%0 float32{0 1} = Load a0[8*i0 + i1]
%1 float32{0} = ReduceMax %0 over {1}
%2 float32{0 1} = Sub %0 %1
%3 float32{0 1} = Exp %2
%4 float32{0} = Sum %3 over {1}
%5 float32{0 1} = Div %3 %4
%6 float32{0 1} = Store %5 a1[8*i0 + i1]
`},
	{"matmul", matmul, `
contraction i0:2 batch i1:3 m i2:4 n i3:5 k
a0 in float32
a1 in float32
a2 in float32
a3 out float32[24]
%0 float32{0 1 3} = Load a0[15*i0 + 5*i1 + i3]
%1 float32{2 3} = Load a1[5*i2 + i3]
%2 float32{0 1 2 3} = Mul %0 %1
%3 float32{0 1 2} = Sum %2 over {3}
%4 float32{2} = Load a2[i2]
%5 float32{0 1 2} = Add %3 %4
%6 float32{} = Const 0
%7 float32{0 1 2} = Max %5 %6
%8 float32{0 1 2} = Store %7 a3[12*i0 + 4*i1 + i2]
`},
	{"padded", padded, `
pointwise i0:8
a0 in int32
a1 value int32
a2 out int32[8]
%0 int32{0} = Load a0[0; 0 <= (-i0 + 5)/2 <3 *1; else 0]
%1 int32{} = Scalar a1
%2 int32{0} = Mul %0 %1
%3 bool{0} = InBounds [0 <= (-i0 + 5)/2 <3 *1]
%4 int32{} = Const -1
%5 int32{0} = Where %3 %2 %4
%6 int32{0} = Store %5 a2[i0]
`},
	{"take", take, `
pointwise i0:4 i1:3
a0 status int32
a1 in float32
a2 in int64
a3 out float32[12]
%0 int64{0} = Load a2[i0]
%1 float32{0 1} = Load a1[i1 + 3*%0 <5; else 9]
%2 float32{0 1} = Store %1 a3[3*i0 + i1]
`},
	{"scatterAdd", scatterAdd, `
routine scatter i0:4 i1:3
a0 out float32[15]
a1 in float32
a2 in int32
a3 status int32
%0 int32{0} = Load a2[i0]
%1 int32{1} = Index i1
%2 float32{1} = Cast %1
%3 float32{0 1} = Scatter Add %2 a0[i1 + 3*%0 <5]
`},
}

func TestString(t *testing.T) {
	for _, c := range kernels {
		if got, want := c.kernel().String(), strings.TrimPrefix(c.text, "\n"); got != want {
			t.Errorf("%s.String() =\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

func TestVerify(t *testing.T) {
	for _, c := range kernels {
		if err := Verify(c.kernel()); err != nil {
			t.Errorf("Verify(%s) = %v", c.name, err)
		}
	}
}

// Whatever matters to a device is in the text, and nothing else.
func TestStringTells(t *testing.T) {
	for _, c := range []struct {
		name   string
		kernel func() *Kernel
		change func(k *Kernel)
		same   bool
	}{
		{"template", padded, func(k *Kernel) { k.Template = Reduce }, false},
		{"axis length", softmax, func(k *Kernel) { k.Axes[0].Len = 5 }, false},
		{"axis role", softmax, func(k *Kernel) { k.Axes[1].Role = Parallel }, false},
		{"argument kind", padded, func(k *Kernel) { k.Args[1].Kind = In }, false},
		{"argument type", softmax, func(k *Kernel) { k.Args[0].DType = BFloat16 }, false},
		{"argument length", padded, func(k *Kernel) { k.Args[2].Len = 9 }, false},
		{"argument alignment", padded, func(k *Kernel) { k.Args[0].Align = true }, false},
		{"op", softmax, func(k *Kernel) { k.Body[2].Op = Add }, false},
		{"type", scatterAdd, func(k *Kernel) { k.Body[2].Type = Float64 }, false},
		{"operand", softmax, func(k *Kernel) { k.Body[2].Src[1] = 0 }, false},
		{"argument of load", matmul, func(k *Kernel) { k.Body[0].Arg = 1 }, false},
		{"argument of store", matmul, func(k *Kernel) { k.Body[8].Arg = 2 }, false},
		{"argument of scalar", padded, func(k *Kernel) { k.Body[1].Arg = 0 }, false},
		{"offset", softmax, func(k *Kernel) { k.Body[0].View.Off = 1 }, false},
		{"coefficient", softmax, func(k *Kernel) { k.Body[0].View.Coef[1] = -1 }, false},
		{"guard offset", padded, func(k *Kernel) { k.Body[0].View.Guards[0].Off = 1 }, false},
		{"guard coefficient", padded, func(k *Kernel) { k.Body[0].View.Guards[0].Coef[0] = 1 }, false},
		{"guard division", padded, func(k *Kernel) { k.Body[0].View.Guards[0].Div = 1 }, false},
		{"guard length", padded, func(k *Kernel) { k.Body[0].View.Guards[0].Len = 2 }, false},
		{"guard stride", padded, func(k *Kernel) { k.Body[0].View.Guards[0].Stride = 2 }, false},
		{"fill", padded, func(k *Kernel) { k.Body[0].View.Fill = 1 }, false},
		{"fill of an index", take, func(k *Kernel) { k.Body[1].View.Fill = 0 }, false},
		{"index", take, func(k *Kernel) { k.Body[1].Src = nil }, false},
		{"index stride", take, func(k *Kernel) { k.Body[1].View.Stride = 1 }, false},
		{"index length", take, func(k *Kernel) { k.Body[1].View.Len = 4 }, false},
		{"number", padded, func(k *Kernel) { k.Body[4].Num = 1 }, false},
		{"negative zero", matmul, func(k *Kernel) { k.Body[6].Num = 1 << 63 }, false},
		{"axis", scatterAdd, func(k *Kernel) { k.Body[1].Axis = 0 }, false},
		{"axes", softmax, func(k *Kernel) { k.Body[1].Axes = 1 }, false},
		{"kind", scatterAdd, func(k *Kernel) { k.Body[3].Kind = Max }, false},
		{"scatter stride", scatterAdd, func(k *Kernel) { k.Body[3].View.Stride = 1 }, false},
		{"scatter start", scatterAdd, func(k *Kernel) { k.Body[3].Src = append(k.Body[3].Src, 2) }, false},
		{"scatter in place", scatterAdd, func(k *Kernel) { k.Args[0].Kept = true }, false},
		{"scatter length", scatterAdd, func(k *Kernel) { k.Body[3].View.Len = 4 }, false},

		{"length of an input", padded, func(k *Kernel) { k.Args[0].Len = 3 }, true},
		{"fill without guards", softmax, func(k *Kernel) { k.Body[0].View.Fill = 1 }, true},
		{"index length without index", softmax, func(k *Kernel) { k.Body[0].View.Len = 1 }, true},
		{"fill of Scatter", scatterAdd, func(k *Kernel) { k.Body[3].View.Fill = 1 }, true},
		{"number of a sum", softmax, func(k *Kernel) { k.Body[4].Num = 1 }, true},
	} {
		k := c.kernel()
		c.change(k)
		if got := k.String() == c.kernel().String(); got != c.same {
			t.Errorf("a kernel of another %s has the same text: %v, want %v", c.name, got, c.same)
		}
	}
}

// The text of a view shows the sign of every part.
func TestViewText(t *testing.T) {
	for _, c := range []struct {
		off  int
		coef []int
		want string
	}{
		{0, nil, "0"},
		{-3, nil, "-3"},
		{0, []int{0, 1}, "i1"},
		{1, []int{-1, 0, -2}, "-i0 - 2*i2 + 1"},
		{-1, []int{12, 1}, "12*i0 + i1 - 1"},
	} {
		if got := string((&View{Off: c.off, Coef: c.coef}).append(nil, -1)); got != c.want {
			t.Errorf("view of offset %d, coefficients %v: %s, want %s", c.off, c.coef, got, c.want)
		}
	}
}

func BenchmarkString(b *testing.B) {
	k := matmul()
	b.ReportAllocs()
	for b.Loop() {
		_ = k.String()
	}
}
