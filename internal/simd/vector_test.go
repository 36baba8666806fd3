package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

var random = rand.New(rand.NewPCG(3, 4))

// A vector has elements between guards.
type vector struct {
	typ  ir.DType
	n    int
	data []byte
}

const (
	guard     = 16
	guardByte = 0xa5
)

func newVector(d ir.DType, n int) *vector {
	v := &vector{d, n, make([]byte, 2*guard+n*d.Size())}
	for i := range v.data {
		v.data[i] = guardByte
	}
	return v
}

func (v *vector) p() unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.data)), guard)
}

func (v *vector) at(i int) unsafe.Pointer { return unsafe.Add(v.p(), i*v.typ.Size()) }

// A pageVector has elements before a page that may not be touched.
func pageVector(t *testing.T, d ir.DType, n int) *vector {
	data := endOfPage[byte](t, guard+n*d.Size())
	for i := range data[:guard] {
		data[i] = guardByte
	}
	return &vector{d, n, data}
}

// onPage copies a vector's elements to the end of a page.
func onPage(t *testing.T, v *vector) *vector {
	p := pageVector(t, v.typ, v.n)
	copy(p.data[guard:], v.data[guard:guard+v.n*v.typ.Size()])
	return p
}

// intact reports whether the guards are unchanged.
func (v *vector) intact() bool {
	for i := range guard {
		if v.data[i] != guardByte || v.data[len(v.data)-1-i] != guardByte {
			return false
		}
	}
	return true
}

func (v *vector) clone() *vector {
	return &vector{v.typ, v.n, append([]byte(nil), v.data...)}
}

func (v *vector) get(i int) ir.Number { return ir.Decode(v.typ, v.data[guard+i*v.typ.Size():]) }

func (v *vector) set(i int, x ir.Number) {
	at := guard + i*v.typ.Size()
	x.Append(v.data[:at], v.typ)
}

// randomVector returns small numbers, special numbers and random bits.
func randomVector(d ir.DType, n int) *vector {
	v := newVector(d, n)
	for i := range n {
		v.set(i, randomNumber(d))
	}
	return v
}

func randomNumber(d ir.DType) ir.Number {
	lo, hi := ir.Limits(d)
	if d.IsFloat() {
		special := []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e9, -1e9, 1e19, -1e19, 1e30, 2147483648, 4294967296, 255, 256}
		switch random.IntN(4) {
		case 0:
			return ir.Float(d, special[random.IntN(len(special))])
		case 1:
			return ir.Float(d, float64(random.IntN(9)-4))
		}
		return ir.Float(d, random.NormFloat64()*4)
	}
	switch random.IntN(4) {
	case 0:
		return ir.Int(d, []int64{int64(lo), int64(hi), 0, 1, -1}[random.IntN(5)])
	case 1:
		return ir.Int(d, int64(random.Uint64()))
	}
	return ir.Int(d, int64(random.IntN(80)-40))
}

// A definition computes an operation on floating-point numbers and on others.
type definition struct {
	f func(x ...float64) float64
	i func(x ...int64) int64
}

func only(f func(float64) float64) definition {
	return definition{f: func(x ...float64) float64 { return f(x[0]) }}
}

func is(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func compare(f func(x, y float64) bool, i func(x, y int64) bool) definition {
	return definition{
		func(x ...float64) float64 { return float64(is(f(x[0], x[1]))) },
		func(x ...int64) int64 { return is(i(x[0], x[1])) },
	}
}

func both(f func(x, y float64) float64, i func(x, y int64) int64) definition {
	d := definition{}
	if f != nil {
		d.f = func(x ...float64) float64 { return f(x[0], x[1]) }
	}
	if i != nil {
		d.i = func(x ...int64) int64 { return i(x[0], x[1]) }
	}
	return d
}

var definitions = map[ir.Op]definition{
	ir.Neg:   {func(x ...float64) float64 { return -x[0] }, func(x ...int64) int64 { return -x[0] }},
	ir.Not:   {i: func(x ...int64) int64 { return ^x[0] }},
	ir.Exp:   only(math.Exp),
	ir.Expm1: only(math.Expm1),
	ir.Log:   only(math.Log),
	ir.Log1p: only(math.Log1p),
	ir.Log2:  only(log264),
	ir.Sin:   only(math.Sin),
	ir.Cos:   only(math.Cos),
	ir.Atan:  only(math.Atan),
	ir.Sqrt:  only(math.Sqrt),
	ir.Tanh:  only(math.Tanh),
	ir.Erf:   only(math.Erf),
	ir.Erfc:  only(math.Erfc),
	ir.Floor: only(math.Floor),
	ir.Add:   both(func(x, y float64) float64 { return x + y }, func(x, y int64) int64 { return x + y }),
	ir.Sub:   both(func(x, y float64) float64 { return x - y }, func(x, y int64) int64 { return x - y }),
	ir.Mul:   both(func(x, y float64) float64 { return x * y }, func(x, y int64) int64 { return x * y }),
	ir.Div: both(func(x, y float64) float64 { return x / y }, func(x, y int64) int64 {
		if y == 0 {
			return 0
		}
		return x / y
	}),
	ir.Rem: both(math.Mod, func(x, y int64) int64 {
		if y == 0 {
			return 0
		}
		return x % y
	}),
	ir.Pow: both(math.Pow, func(x, y int64) int64 {
		if y < 0 {
			if x == 1 || x == -1 && y%2 == 0 {
				return 1
			}
			if x == -1 {
				return -1
			}
			return 0
		}
		p := int64(1)
		for range min(y, 64) { // from 64 on, only 0 and units and even numbers recur
			p *= x
		}
		if y > 64 {
			p = 1
			for b := 62; b >= 0; b-- {
				p *= p
				if y>>b&1 == 1 {
					p *= x
				}
			}
		}
		return p
	}),
	ir.Atan2: both(math.Atan2, nil),
	ir.Max:   both(math.Max, func(x, y int64) int64 { return max(x, y) }),
	ir.Min:   both(math.Min, func(x, y int64) int64 { return min(x, y) }),
	ir.Eq:    compare(func(x, y float64) bool { return x == y }, func(x, y int64) bool { return x == y }),
	ir.Lt:    compare(func(x, y float64) bool { return x < y }, func(x, y int64) bool { return x < y }),
	ir.And:   both(nil, func(x, y int64) int64 { return x & y }),
	ir.Or:    both(nil, func(x, y int64) int64 { return x | y }),
	ir.Xor:   both(nil, func(x, y int64) int64 { return x ^ y }),
	ir.Shl:   both(nil, func(x, y int64) int64 { return x << uint64(y) }),
	ir.Shr:   both(nil, func(x, y int64) int64 { return x >> uint64(y) }),
}

// unsigned has the operations on unsigned integers whose bits differ from signed ones.
var unsigned = map[ir.Op]func(x, y uint64) uint64{
	ir.Div: func(x, y uint64) uint64 {
		if y == 0 {
			return 0
		}
		return x / y
	},
	ir.Rem: func(x, y uint64) uint64 {
		if y == 0 {
			return 0
		}
		return x % y
	},
	ir.Pow: func(x, y uint64) uint64 {
		p := uint64(1)
		for b := 63; b >= 0; b-- {
			p *= p
			if y>>b&1 == 1 {
				p *= x
			}
		}
		return p
	},
	ir.Max: func(x, y uint64) uint64 { return max(x, y) },
	ir.Min: func(x, y uint64) uint64 { return min(x, y) },
	ir.Lt: func(x, y uint64) uint64 {
		if x < y {
			return 1
		}
		return 0
	},
	ir.Shr: func(x, y uint64) uint64 { return x >> y },
}

// define returns the result of op on elements of type d.
func define(op ir.Op, d ir.DType, x ...ir.Number) ir.Number {
	if op == ir.Copy { // of a Scatter
		return x[1]
	}
	if op == ir.Not && d == ir.Bool {
		return 1 - x[0]
	}
	if d.IsFloat() {
		var v []float64
		for _, n := range x {
			v = append(v, n.Float64(d))
		}
		// Max and Min propagate NaN.
		for _, e := range v {
			if e != e && (op == ir.Max || op == ir.Min) {
				return ir.Float(d, math.NaN())
			}
		}
		r := definitions[op].f(v...)
		if op.ResultDType(0, d) == ir.Bool {
			return ir.Number(r)
		}
		return ir.Float(d, r)
	}
	if f := unsigned[op]; f != nil && !d.IsSigned() {
		return ir.Int(op.ResultDType(0, d), int64(f(uint64(x[0]), uint64(x[1]))))
	}
	var v []int64
	for _, n := range x {
		v = append(v, int64(n))
	}
	return ir.Int(op.ResultDType(0, d), definitions[op].i(v...))
}

// A slack is how many numbers apart results of float32 may be, and the relative difference of float64.
type slack struct{ steps, relative float64 }

// lastBit is the slack of results that differ in the last bits only.
var lastBit = slack{1, 1e-15}

// same reports whether two elements are equal, but for some slack and, with any, the sign of zeros.
func same(d ir.DType, got, want ir.Number, free slack) bool {
	if got == want {
		return true
	}
	if !d.IsFloat() {
		return false
	}
	g, w := got.Float64(d), want.Float64(d)
	if g != g && w != w || g == 0 && w == 0 && free != (slack{}) {
		return true
	}
	return d == ir.Float32 && distance(float32(g), float32(w)) <= free.steps || d == ir.Float64 && math.Abs(g-w) <= free.relative*math.Abs(w)
}

// free has the operations whose results may differ in the last bits: math.Pow is off by many ulps
// for great exponents.
var free = map[ir.Op]slack{
	ir.Exp: lastBit, ir.Expm1: lastBit, ir.Log: lastBit, ir.Log1p: lastBit, ir.Log2: lastBit, ir.Sin: lastBit, ir.Cos: lastBit, ir.Atan: lastBit, ir.Tanh: lastBit, ir.Erf: lastBit,
	ir.Erfc: {4, 1e-15}, ir.Pow: {1, 1e-13},
}

// compute has the types that kernels compute in.
var compute = slices.DeleteFunc(slices.Clone(ir.DTypes), func(d ir.DType) bool { return d.ComputeType() != d })
