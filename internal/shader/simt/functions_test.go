package simt_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/tensorken/tensorken/internal/interp"
	. "github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Operands at which functions are tried: bits of F32, and integers.
var (
	floatOperands = func() []uint32 {
		var list []uint32
		for _, x := range []float64{
			0, 1, 0.1, 0.3, 0.4142, 0.5, 0.625, 0.9, 1.5, 2, 2.4143, 3, 7.25, 10, 88.7, 89, 104.5, 255, 256, 1000.25, 3999, 4001, 1e5,
			8388609, 16777216, 2147483648, 4294967296, 1e9, 1.2e10, 4e37, 3e38, 1e-3, 1e-5, 1e-20, 6e-8, 1.17549435e-38, 65519, 65520, math.Inf(1),
		} {
			b := math.Float32bits(float32(x))
			list = append(list, b, b|1<<31)
		}
		return append(list, 0x7fc00000, 0xffc00001, 0x7f800001)
	}()
	intOperands = []uint32{0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 100, 255, 256, 65535, 65536, 1 << 30, 1<<31 - 1, 1 << 31, 1<<31 + 1, ^uint32(0) - 6, ^uint32(0) - 1, ^uint32(0)}
)

// results applies a function to lists of operands.
func results(t *testing.T, f *Func, operands ...[]uint32) []uint32 {
	t.Helper()
	n := len(operands[0])
	element := func(t Type) ir.DType {
		return map[Type]ir.DType{Bool: ir.Bool, I32: ir.Int32, U32: ir.Uint32, F32: ir.Float32}[t]
	}
	out := &Buffer{Name: "out", Type: element(f.Result), Arg: len(operands), Write: true}
	body := &Block{}
	pass := &Pass{Threads: n, Grid: [3]int{1, 1, 1}, Buffers: []*Buffer{out}, Body: body}
	var args []simt.Arg
	var x []*Expr
	i := body.Let("i", ThreadID.Convert(I32))
	for k, p := range f.Params {
		in := &Buffer{Name: "in" + p.Name, Type: element(p.Type), Arg: k}
		pass.Buffers = append(pass.Buffers, in)
		v := &Var{Name: p.Name, Type: p.Type}
		body.Do(&Load{Dst: []*Var{v}, Declare: true, Buffer: in, Index: i})
		x = append(x, v.Ref())
		var data []byte
		for _, b := range operands[k] {
			data = binary.LittleEndian.AppendUint32(data, b)
		}
		args = append(args, simt.Arg{Data: data})
	}
	body.Do(&Store{Buffer: out, Index: i, Values: []*Expr{f.Call(x...)}})
	args = append(args, simt.Arg{Data: make([]byte, n*out.Type.Size())})
	p := &Program{Passes: []*Pass{pass}}
	if err := simt.Verify(p); err != nil {
		t.Fatal(err)
	}
	if err := simt.Compile(p).Run(args); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	list := make([]uint32, n)
	for i := range list {
		if data := args[len(operands)].Data; out.Type == ir.Bool {
			list[i] = uint32(data[i])
		} else {
			list[i] = binary.LittleEndian.Uint32(data[4*i:])
		}
	}
	return list
}

// Functions give what the ops that call them are defined to.
func TestFunctions(t *testing.T) {
	for _, c := range []struct {
		name     string
		op       ir.Op
		to, from ir.DType
		slack    float64 // relative to the result
	}{
		{"eq_f32", ir.Eq, ir.Bool, ir.Float32, 0},
		{"lt_f32", ir.Lt, ir.Bool, ir.Float32, 0},
		{"max_f32", ir.Max, ir.Float32, ir.Float32, 0},
		{"min_f32", ir.Min, ir.Float32, ir.Float32, 0},
		{"sqrt_f32", ir.Sqrt, ir.Float32, ir.Float32, 0},
		{"exp_f32", ir.Exp, ir.Float32, ir.Float32, 2e-7},
		{"expm1_f32", ir.Expm1, ir.Float32, ir.Float32, 1e-6},
		{"log_f32", ir.Log, ir.Float32, ir.Float32, 1e-6},
		{"log1p_f32", ir.Log1p, ir.Float32, ir.Float32, 1e-6},
		{"tanh_f32", ir.Tanh, ir.Float32, ir.Float32, 1e-6},
		{"erf_f32", ir.Erf, ir.Float32, ir.Float32, 1e-6},
		{"atan_f32", ir.Atan, ir.Float32, ir.Float32, 1e-6},
		{"sin_f32", ir.Sin, ir.Float32, ir.Float32, 1e-6},
		{"cos_f32", ir.Cos, ir.Float32, ir.Float32, 1e-6},
		{"div_f32", ir.Div, ir.Float32, ir.Float32, 1e-7},
		{"rem_f32", ir.Rem, ir.Float32, ir.Float32, 0},
		{"pow_f32", ir.Pow, ir.Float32, ir.Float32, 2e-7},
		{"atan2_f32", ir.Atan2, ir.Float32, ir.Float32, 3e-7},
		{"div_i32", ir.Div, ir.Int32, ir.Int32, 0},
		{"div_u32", ir.Div, ir.Uint32, ir.Uint32, 0},
		{"rem_i32", ir.Rem, ir.Int32, ir.Int32, 0},
		{"rem_u32", ir.Rem, ir.Uint32, ir.Uint32, 0},
		{"pow_i32", ir.Pow, ir.Int32, ir.Int32, 0},
		{"pow_u32", ir.Pow, ir.Uint32, ir.Uint32, 0},
		{"shl_i32", ir.Shl, ir.Int32, ir.Int32, 0},
		{"shl_u32", ir.Shl, ir.Uint32, ir.Uint32, 0},
		{"shr_i32", ir.Shr, ir.Int32, ir.Int32, 0},
		{"shr_u32", ir.Shr, ir.Uint32, ir.Uint32, 0},
		{"int32_of", ir.Cast, ir.Int32, ir.Float32, 0},
		{"uint32_of", ir.Cast, ir.Uint32, ir.Float32, 0},
		{"uint8_of", ir.Cast, ir.Uint8, ir.Float32, 0},
		{"int8_of", ir.Cast, ir.Int8, ir.Float32, 0},
	} {
		f := Function(c.name)
		operands := intOperands
		if c.from == ir.Float32 {
			operands = floatOperands
		}
		lists := make([][]uint32, len(f.Params))
		for _, x := range operands {
			for _, y := range operands {
				for k := range lists {
					lists[k] = append(lists[k], [2]uint32{x, y}[k])
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
				x[k] = register(c.from, lists[k][i])
			}
			want := interp.Apply(c.op, c.to, c.from, x...)
			if have := register(c.to, got[i]); !near(c.to, have, want, c.slack) {
				t.Errorf("%s of %s is %s, want %s", c.name, texts(c.from, x), have.Text(c.to), want.Text(c.to))
			}
		}
	}
}

// register is a number of type d with the bits of a register.
func register(d ir.DType, bits uint32) ir.Number {
	switch d {
	case ir.Float32:
		return ir.Float(d, float64(math.Float32frombits(bits)))
	case ir.Int8, ir.Int32:
		return ir.Int(d, int64(int32(bits)))
	}
	return ir.Number(bits)
}

func texts(d ir.DType, list []ir.Number) string {
	text := ""
	for _, x := range list {
		text += " " + x.Text(d)
	}
	return text
}

// near reports whether numbers are equal, but for slack and the sign of zeros.
func near(d ir.DType, x, y ir.Number, slack float64) bool {
	if !d.IsFloat() {
		return x == y
	}
	a, b := x.Float64(d), y.Float64(d)
	return a == b || a != a && b != b || math.Abs(a-b) <= slack*math.Abs(b)
}

func TestHalves(t *testing.T) {
	var x []uint32
	for i := range uint32(1 << 10) { // all exponents, digits on both sides of each rounding
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
			if want := c.bits(math.Float32frombits(x[i])); got != want {
				t.Errorf("%s of %#x is %#x, want %#x", c.name, x[i], got, want)
			}
		}
	}
}

func TestThreefry(t *testing.T) {
	lists := make([][]uint32, 4)
	for i := range uint32(100) {
		for k, x := range []uint32{i * 0x9e3779b9, ^i, i, i * i * 77} {
			lists[k] = append(lists[k], x)
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
