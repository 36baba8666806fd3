package simt_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/interp"
	. "github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Operands at which functions are tried: bits of a register.
var (
	floatOperands = func(d ir.DType) []uint64 {
		var list []uint64
		for _, x := range []float64{
			0, 1, 0.1, 0.3, 0.4142, 0.5, 0.625, 0.9, 1.5, 2, 2.4143, 3, 7.25, 10, 88.7, 89, 104.5, 255, 256, 1000.25, 3999, 4001, 1e5,
			8388609, 16777216, 2147483648, 4294967296, 1e9, 1.2e10, 4e37, 3e38, 1e-3, 1e-5, 1e-20, 6e-8, 1.17549435e-38, 65519, 65520, math.Inf(1),
		} {
			list = append(list, ir.Float(d, x).Bits(d), ir.Float(d, -x).Bits(d))
		}
		if d == ir.Float32 {
			return append(list, 0x7fc00000, 0xffc00001, 0x7f800001)
		}
		for _, x := range []float64{
			0x1p-1074, 3e-320, 0x1p-1022, 1e-300, 0x1p-55, 708.4, 709.78, 709.79, 745.1, 746, 0x1p53 + 2, 0x1p63, 0x1p63 - 1024, 0x1p64, 0x1p64 - 2048,
			math.MaxFloat64, 1e300, 1e22, 0x1p30 + 1, 12345678901234567, 0x1.921fb54442d18p+0, 0x1.6ac5b262ca1ffp+849, math.Nextafter(1, 0), math.Nextafter(1, 2),
		} {
			list = append(list, math.Float64bits(x), math.Float64bits(-x))
		}
		return append(list, 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001)
	}
	intOperands = func(d ir.DType) []uint64 {
		list := []uint64{0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 100, 255, 256, 65535, 65536, 1 << 30, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 7, 1<<32 - 2, 1<<32 - 1}
		if d.Size() == 8 {
			list = append(list, 63, 64, 65, 1<<32, 1<<32+3, 1<<62, 1<<63-1, 1<<63, 1<<63+1, 1<<64-7, 1<<64-2, 1<<64-1)
		}
		return list
	}
)

// elements are types whose elements are as registers.
var elements = map[Type]ir.DType{Bool: ir.Bool, I32: ir.Int32, U32: ir.Uint32, F32: ir.Float32, I64: ir.Int64, U64: ir.Uint64, F64: ir.Float64}

// results applies a function to lists of operands.
func results(t *testing.T, f *Func, operands ...[]uint64) []uint64 {
	t.Helper()
	n := len(operands[0])
	out := &Buffer{Name: "out", Type: elements[f.Result], Arg: len(operands), Write: true}
	body := &Block{}
	pass := &Pass{Threads: n, Grid: [3]int{1, 1, 1}, Buffers: []*Buffer{out}, Body: body}
	var args []simt.Arg
	var x []*Expr
	i := body.Let("i", ThreadID.Convert(I32))
	for k, p := range f.Params {
		in := &Buffer{Name: "in" + p.Name, Type: elements[p.Type], Arg: k}
		pass.Buffers = append(pass.Buffers, in)
		v := &Var{Name: p.Name, Type: p.Type}
		body.Do(&Load{Dst: []*Var{v}, Declare: true, Buffer: in, Index: i})
		x = append(x, v.Ref())
		var data []byte
		for _, b := range operands[k] {
			data = binary.LittleEndian.AppendUint64(data, b)[:len(data)+in.Type.Size()]
		}
		args = append(args, simt.Arg{Data: data})
	}
	body.Do(&Store{Buffer: out, Index: i, Values: []*Expr{f.Call(x...)}})
	size := out.Type.Size()
	args = append(args, simt.Arg{Data: make([]byte, n*size)})
	p := &Program{Passes: []*Pass{pass}}
	if err := simt.Verify(p); err != nil {
		t.Fatal(err)
	}
	if err := simt.Compile(p).Run(args); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	list := make([]uint64, n)
	for i := range list {
		var word [8]byte
		copy(word[:], args[len(operands)].Data[i*size:][:size])
		list[i] = binary.LittleEndian.Uint64(word[:])
	}
	return list
}

// Functions equal the definitions of the ops that call them.
func TestFunctions(t *testing.T) {
	const f32, f64 = ir.Float32, ir.Float64
	type row struct {
		op       ir.Op
		to, from ir.DType
		slack    float64 // relative to the result
	}
	list := []row{
		{ir.Eq, ir.Bool, f32, 0}, {ir.Lt, ir.Bool, f32, 0}, {ir.Max, f32, f32, 0}, {ir.Min, f32, f32, 0}, {ir.Sqrt, f32, f32, 0},
		{ir.Exp, f32, f32, 2e-7}, {ir.Expm1, f32, f32, 1e-6}, {ir.Log, f32, f32, 1e-6}, {ir.Log1p, f32, f32, 1e-6}, {ir.Log2, f32, f32, 1e-6},
		{ir.Tanh, f32, f32, 1e-6}, {ir.Erf, f32, f32, 1e-6}, {ir.Erfc, f32, f32, 1e-6}, {ir.Atan, f32, f32, 1e-6}, {ir.Sin, f32, f32, 1e-6}, {ir.Cos, f32, f32, 1e-6},
		{ir.Div, f32, f32, 1e-7}, {ir.Rem, f32, f32, 0}, {ir.Pow, f32, f32, 2e-7}, {ir.Atan2, f32, f32, 3e-7},
		{ir.Max, f64, f64, 0}, {ir.Min, f64, f64, 0},
		{ir.Exp, f64, f64, 4e-16}, {ir.Expm1, f64, f64, 4e-16}, {ir.Log, f64, f64, 4e-16}, {ir.Log1p, f64, f64, 4e-16}, {ir.Log2, f64, f64, 4e-16},
		{ir.Tanh, f64, f64, 4e-16}, {ir.Erf, f64, f64, 4e-16}, {ir.Erfc, f64, f64, 8e-16}, {ir.Atan, f64, f64, 4e-16}, {ir.Sin, f64, f64, 4e-16}, {ir.Cos, f64, f64, 4e-16},
		{ir.Rem, f64, f64, 0}, {ir.Pow, f64, f64, 1e-12}, {ir.Atan2, f64, f64, 5e-16},
	}
	for _, d := range []ir.DType{ir.Int32, ir.Uint32, ir.Int64, ir.Uint64} {
		for _, op := range []ir.Op{ir.Div, ir.Rem, ir.Pow, ir.Shl, ir.Shr} {
			list = append(list, row{op, d, d, 0})
		}
	}
	for _, d := range ir.DTypes {
		if d.IsInt() {
			list = append(list, row{ir.Cast, d, f32, 0}, row{ir.Cast, d, f64, 0})
		}
	}
	for _, c := range list {
		name := strings.ToLower(c.op.String()) + "_" + Register(c.from).String()
		if c.op == ir.Cast {
			name = c.to.String() + "_of_" + Register(c.from).String()
		}
		f := Function(name)
		if f == nil {
			t.Errorf("there is no function %s", name)
			continue
		}
		operands := intOperands(c.from)
		if c.from.IsFloat() {
			operands = floatOperands(c.from)
		}
		lists := make([][]uint64, len(f.Params))
		for _, x := range operands {
			for _, y := range operands {
				for k := range lists {
					lists[k] = append(lists[k], [2]uint64{x, y}[k])
				}
				if len(lists) == 1 {
					break
				}
			}
		}
		got := results(t, f, lists...)
		for i := range got {
			x := make([]ir.Number, len(lists))
			for k := range x {
				x[k] = ir.FromBits(c.from, lists[k][i])
			}
			if c.from == f64 && rough[c.op] != nil && rough[c.op](math.Abs(x[0].Float64(f64))) {
				continue
			}
			want := interp.Apply(c.op, c.to, c.from, x...)
			if have := ir.FromBits(c.to, got[i]); !near(c.to, have, want, c.slack) {
				t.Errorf("%s of%s is %s, want %s", name, texts(c.from, x), have.Text(c.to), want.Text(c.to))
			}
		}
	}
}

// rough are operands of which package math loses digits: see TestExact.
var rough = map[ir.Op]func(x float64) bool{
	ir.Sin:   func(x float64) bool { return x > 1<<30 },
	ir.Cos:   func(x float64) bool { return x > 1<<30 || x == math.Pi/2 },
	ir.Log:   func(x float64) bool { return x < 0x1p-1022 },
	ir.Pow:   func(x float64) bool { return x < 0x1p-1022 || x != 1 && math.Abs(x-1) < 1e-15 },
	ir.Atan2: func(y float64) bool { return y < 1e-16 }, // and the sign, where y/x is 0
}

// Functions of float64 are exact where that is hard, but for the last digit: the values
// come from mpmath.
func TestExact(t *testing.T) {
	for _, c := range []struct {
		name string
		want float64
		x    []float64
	}{
		{"sin", 1, []float64{math.Pi / 2}}, {"cos", 6.123233995736766e-17, []float64{math.Pi / 2}},
		{"sin", 1.2246467991473532e-16, []float64{math.Pi}}, {"cos", -1, []float64{math.Pi}},
		{"sin", 0.3284483319740196, []float64{1<<30 + 1}}, {"cos", 0.9445219389847354, []float64{1<<30 + 1}},
		{"sin", 0.9999303766734422, []float64{1 << 63}}, {"cos", 0.011800076512800236, []float64{1 << 63}},
		{"sin", 0.023598509904439558, []float64{1 << 64}}, {"cos", -0.9997215163885841, []float64{1 << 64}},
		{"sin", 0.023678459894696413, []float64{-3e38}}, {"cos", 0.9997196259637076, []float64{-3e38}},
		{"sin", 1, []float64{5.319372648326541e+255}}, {"cos", -4.687165924254628e-19, []float64{5.319372648326541e+255}}, // a multiple of π/2, nearly
		{"sin", 0.004961954789184062, []float64{math.MaxFloat64}}, {"cos", -0.9999876894265599, []float64{math.MaxFloat64}},
		{"log", -744.4400719213812, []float64{0x1p-1074}}, {"log", -735.7286286023058, []float64{3e-320}}, {"log", -708.3964185322641, []float64{0x1p-1022}},
		{"log", -1.1102230246251565e-16, []float64{1 - 0x1p-53}}, {"log", 2.2204460492503128e-16, []float64{1 + 0x1p-52}},
		{"pow", 1.9952623149688763e-89, []float64{0.1, 88.7}}, {"pow", 7.193807159919333e+133, []float64{0.3, -256}},
		{"pow", 4398196873.9457445, []float64{1 + 0x1p-52, 1e17}}, {"pow", 4.45779387326829e+144, []float64{1 - 0x1p-53, -3e18}},
		{"pow", 2.2227587494850775e-162, []float64{0x1p-1074, 0.5}}, {"pow", 1e-320, []float64{10, -320}},
	} {
		lists := make([][]uint64, len(c.x))
		for i, x := range c.x {
			lists[i] = []uint64{math.Float64bits(x)}
		}
		got := math.Float64frombits(results(t, Function(c.name+"_f64"), lists...)[0])
		if math.Abs(got-c.want) > 0x1p-52*math.Abs(c.want) {
			t.Errorf("%s of %v is %v, want %v", c.name, c.x, got, c.want)
		}
	}
}

func texts(d ir.DType, list []ir.Number) string {
	text := ""
	for _, x := range list {
		text += " " + x.Text(d)
	}
	return text
}

// near reports whether numbers are equal, but for the sign of zeros and a slack relative to y or,
// where y is subnormal, to the least number that is not.
func near(d ir.DType, x, y ir.Number, slack float64) bool {
	if !d.IsFloat() {
		return x == y
	}
	a, b := x.Float64(d), y.Float64(d)
	least := map[ir.DType]float64{ir.Float32: 0x1p-126, ir.Float64: 0x1p-1022}[d]
	return a == b || a != a && b != b || math.Abs(a-b) <= slack*max(math.Abs(b), least)
}

func TestHalves(t *testing.T) {
	var x []uint64
	for i := range uint64(1 << 10) { // all exponents, digits on both sides of each rounding
		x = append(x, i<<22|0xfff, i<<22|0x1000, i<<22|0x1001, i<<22|0x3000, i<<22|0x8000, i<<22|0x18000, i<<22)
	}
	for _, c := range []struct {
		name string
		bits func(x float32) uint32
	}{
		{"f16_bits", func(x float32) uint32 { return uint32(ir.ToF16(x)) }},
		{"bf16_bits", func(x float32) uint32 { return uint32(ir.ToBF16(x)) }},
	} {
		for i, got := range results(t, Function(c.name), x) {
			if want := c.bits(math.Float32frombits(uint32(x[i]))); uint32(got) != want {
				t.Errorf("%s of %#x is %#x, want %#x", c.name, x[i], got, want)
			}
		}
	}
}

func TestThreefry(t *testing.T) {
	lists := make([][]uint64, 4)
	for i := range uint32(100) {
		for k, x := range []uint32{i * 0x9e3779b9, ^i, i, i * i * 77} {
			lists[k] = append(lists[k], uint64(x))
		}
	}
	for i, got := range results(t, Function("threefry_u32"), lists...) {
		x := make([]ir.Number, 4)
		for k := range x {
			x[k] = ir.Number(lists[k][i])
		}
		if want := interp.Apply(ir.Threefry, ir.Uint32, ir.Uint32, x...); ir.Number(got) != want {
			t.Errorf("threefry of%s is %#x, want %#x", texts(ir.Uint32, x), got, uint32(want))
		}
	}
}

// erfc_bf16 is off by less than an eighth of bfloat16's rounding.
func TestErfcBF16(t *testing.T) {
	list := []uint64{0x7fc00000, 0x7f800000, 0xff800000}
	for x := -9.4; x < 9.4; x += 0.0017 {
		list = append(list, uint64(math.Float32bits(float32(x))))
	}
	for i, bits := range results(t, Function("erfc_bf16"), list) {
		x := float64(math.Float32frombits(uint32(list[i])))
		got, want := float64(math.Float32frombits(uint32(bits))), math.Erfc(x)
		if d := math.Abs(got - want); math.IsNaN(got) != math.IsNaN(want) || d > want*0x1p-12+0x1p-126 {
			t.Errorf("erfc_bf16(%v) is %v, want %v", x, got, want)
		}
	}
}
