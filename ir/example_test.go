package ir_test

import (
	"fmt"

	"github.com/tensorken/tensorken/ir"
)

// The sums of the rows of a 2×3 matrix. A template, axes with roles, arguments of kinds, and
// instructions, which read and write elements by views.
func ExampleKernel() {
	const rows, columns = 2, 3
	matrix := &ir.View{Coef: []int{columns, 1}} // the position 3·i0 + i1
	k := &ir.Kernel{
		Template: ir.Reduce,
		Axes:     []ir.Axis{{Len: rows, Role: ir.Parallel}, {Len: columns, Role: ir.Reduced}},
		Args:     []ir.Arg{{Kind: ir.In, DType: ir.Float32}, {Kind: ir.Out, DType: ir.Float32, Len: rows}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Float32, Arg: 0, View: matrix},
			{Op: ir.Sum, Type: ir.Float32, Src: []int{0}, Axes: ir.Axes(1)},
			{Op: ir.Store, Type: ir.Float32, Src: []int{1}, Arg: 1, View: &ir.View{Coef: []int{1, 0}}},
		},
	}
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	fmt.Println(ir.Verify(k))
	fmt.Print(k)
	// Output:
	// <nil>
	// reduce i0:2 i1:3 reduced
	// a0 in float32
	// a1 out float32[2]
	// %0 float32{0 1} = Load a0[3*i0 + i1]
	// %1 float32{0} = Sum %0 over {1}
	// %2 float32{0} = Store %1 a1[i0]
}

// A guard limits a view: here a vector of three is read as one of five, with a margin.
func ExampleGuard() {
	position := ir.AffineExpr{Off: -1, Coef: []int{1}, Div: 1} // i0 - 1
	view := ir.View{Off: -1, Coef: []int{1}, Guards: []ir.Guard{{AffineExpr: position, Len: 3}}}
	for i := range 5 {
		at := (position.Off + position.Coef[0]*i) / position.Div
		for _, g := range view.Guards {
			fmt.Print(at, " ", at >= 0 && at < g.Len, "\n")
		}
	}
	// Output:
	// -1 false
	// 0 true
	// 1 true
	// 2 true
	// 3 false
}

// An AxisSet is a set of a kernel's axes.
func ExampleAxisSet() {
	var s ir.AxisSet = ir.Axes(0, 2)
	fmt.Println(s, s.Has(1), s.List())
	axes := []ir.Axis{{Len: 2}, {Len: 3}, {Len: 4}}
	fmt.Println(ir.DenseStrides(axes, s)) // of an array over axes 0 and 2
	// Output:
	// {0 2} false [0 2]
	// [4 0 1]
}

// The kinds of arguments, roles of axes and templates have names for texts of kernels.
func ExampleTemplate() {
	fmt.Println([]ir.Template{ir.Pointwise, ir.Reduce, ir.Contraction, ir.Routine, ir.Attention})
	fmt.Println([]ir.ArgKind{ir.In, ir.Out, ir.Value, ir.Status})
	fmt.Println([]ir.Role{ir.Parallel, ir.Reduced, ir.Batch})
	// Output:
	// [pointwise reduce contraction routine attention]
	// [in out value status]
	// [parallel reduced batch]
}

// All that the compiler knows of an operation is in its row of Table.
func ExampleInfo() {
	for _, op := range []ir.Op{ir.Max, ir.Exp, ir.Sum} {
		var row ir.Info = ir.Table[op]
		var (
			class   ir.Class      = row.Class
			types   ir.TypeSet    = row.Types
			result  ir.ResultType = row.Result
			neutral ir.Neutral    = row.Identity
			rule    ir.Diff       = row.Diff
		)
		fmt.Println(row.Name, row.Arity, class == ir.Elementwise, types.Has(ir.Int8), result == ir.Same, neutral, rule == ir.Partials)
	}
	fmt.Println(ir.Max.ResultDType(0, ir.Int8, ir.Int8))
	fmt.Println(ir.Identity(ir.Max, ir.Int8).Int64(ir.Int8)) // less than all others
	// Output:
	// Max 2 true true true 3 true
	// Exp 1 true false true 0 true
	// Sum 1 false true false 1 false
	// int8
	// -128
}

// Only routines have a row here: work on whole buffers.
func ExampleRoutineInfo() {
	for op := range ir.Ops {
		var r *ir.RoutineInfo = ir.Routines[op]
		if r != nil {
			fmt.Println(ir.Op(op), r.Indexed)
		}
	}
	// Output:
	// Scatter true
	// Scan false
	// Sort false
	// HostCall false
}

// A Number is an element of any type; its type is known from elsewhere.
func ExampleNumber() {
	var x ir.Number = ir.Float(ir.Float16, 1.0/3)
	fmt.Println(x.Float64(ir.Float16), x.Text(ir.Float16))
	fmt.Println(x.Convert(ir.Float16, ir.Int32).Int64(ir.Int32), ir.Int(ir.Uint8, -1).Int64(ir.Uint8))
	bytes := x.Append(nil, ir.Float16)
	fmt.Println(len(bytes), ir.Decode(ir.Float16, bytes) == x, ir.FromBits(ir.Float16, x.Bits(ir.Float16)) == x)
	lo, hi := ir.Limits(ir.Int16)
	fmt.Println(lo.Int64(ir.Int16), hi.Int64(ir.Int16), ir.Lowest(ir.Float32).Float64(ir.Float32))
	// Output:
	// 0.333251953125 0.33325195
	// 0 255
	// 2 true true
	// -32768 32767 -Inf
}

func ExampleDType() {
	for _, d := range []ir.DType{ir.Bool, ir.Int8, ir.BFloat16, ir.Float64} {
		fmt.Println(d, d.Size(), d.IsInt(), d.IsHalf(), d.SumType(), d.ComputeType())
	}
	// Output:
	// bool 1 false false int32 bool
	// int8 1 true false int32 int8
	// bfloat16 2 false true bfloat16 float32
	// float64 8 false false float64 float64
}

// The 16-bit floats have Go types.
func ExampleF16() {
	var x ir.F16 = ir.ToF16(0.1)
	var y ir.BF16 = ir.ToBF16(0.1)
	fmt.Println(x.Float32(), y.Float32())
	// Output: 0.099975586 0.100097656
}

// A Machine estimates times, in seconds.
func ExampleMachine() {
	m := ir.Machine{Bandwidth: 1e12, Adds: 1e13}
	fmt.Println(m.MoveTime(1e9), m.AddTime(1e9))
	fmt.Println(ir.CeilDiv(7, 2)) // as the number of blocks of two
	// Output:
	// 0.001 0.0001
	// 4
}

// The blocks of two matrices of four rows, and the first element of a row of three in each.
func ExampleLoop() {
	l := ir.Loop{Rows: 8, Matrix: 4, Part: 4, Block: 2}
	fmt.Println(l.Blocks(), "blocks and", l.Parts(), "part of a matrix")
	row := ir.StageArg{Steps: []ir.RowStep{{Mod: 8, Div: 1, Mul: 3}}}
	for first := range l.Starts(2) {
		fmt.Println("row", first, "begins at element", row.Offset(first))
	}
	// Output:
	// 2 blocks and 1 part of a matrix
	// row 0 begins at element 0
	// row 2 begins at element 6
	// row 4 begins at element 12
	// row 6 begins at element 18
}

// A kernel of a user has a text in a device's language, and its arguments.
func ExampleRawKernel() {
	k := ir.RawKernel{
		Name: "double", Text: "out[i] = 2*x[i]", Names: []string{"x", "out"}, Threads: 64, Grid: [3]int{1, 1, 1},
		Args: []ir.Arg{{Kind: ir.In, DType: ir.Float32, Len: 4}, {Kind: ir.Out, DType: ir.Float32, Len: 4}, {Kind: ir.Value, DType: ir.Uint32}},
	}
	fmt.Println(k.Result().Kind, k.Result().Len)
	// Output: out 4
}

// A block of four elements has a scale, and one bit for each of them: 1 is the scale, 0 its negative.
func ExampleAddFormat() {
	signs := ir.AddFormat(ir.Format{Name: "signs", Len: 4, Bytes: 2, Decode: func(y []float32, b []byte) {
		for i := range y {
			y[i] = float32(b[i/4*2])
			if b[i/4*2+1]>>(i%4)&1 == 0 {
				y[i] = -y[i]
			}
		}
	}})
	y := make([]float32, 4)
	signs.Format().Decode(y, []byte{3, 0b0101})
	fmt.Println(signs, signs.Bytes(4096), y, len(ir.Formats()))
	// Output: signs 2048 [3 -3 3 -3] 1
}

// A block of four elements has a scale, and four bits for each of them, the first in the lower bits of a byte.
func ExampleCodes() {
	codes := ir.Field{Signed: true, Parts: []ir.Bits{{Count: 4, At: 16, Digits: []ir.Digit{{Len: 4, Step: 4}}}}}
	half := ir.FloatCode(ir.HalfFloat)
	f := ir.Format{Len: 4, Bytes: 4, Codes: &ir.Codes{Run: 4, Code: codes, Scale: ir.Factor{Float: half}, Cuts: []int{2}}}
	fmt.Println(codes.Bits(), "bits;", f.Group(), "blocks are a group")
	grouped := make([]byte, f.GroupedLen(8))
	f.Grouped(grouped, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	fmt.Println(grouped)
	// Output:
	// 4 bits; 8 blocks are a group
	// [1 2 5 6 0 0 0 0 0 0 0 0 0 0 0 0 3 4 7 8 0 0 0 0 0 0 0 0 0 0 0 0]
}
