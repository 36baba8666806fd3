package ptx

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Quotients and roots in place have the bits of Go's.
func TestInPlace(t *testing.T) {
	p := printer{inPlace: true}
	x, y := p.register(word), p.register(word)
	q := p.quotient(x, y)
	root := p.root(x)
	special := []uint32{
		0, 1, 0x7fffff, 0x800000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x3f800000, 0x3f7fffff, // subnormal, normal, infinite, NaN, 1
		0x20000000, 0x1fffffff, 0x5effffff, 0x5f000000, 0x0f800000, 0x0f7fffff, // bounds of paths
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		a, b := rng.Uint32(), rng.Uint32()
		switch i % 5 {
		case 0:
			a = special[rng.IntN(len(special))] | a&(1<<31)
		case 1:
			b = special[rng.IntN(len(special))] | b&(1<<31)
		case 2:
			a, b = special[rng.IntN(len(special))]|a&(1<<31), special[rng.IntN(len(special))]|b&(1<<31)
		case 3: // a subnormal quotient
			a, b = a&0x807fffff|uint32(1+rng.IntN(40))<<23, b&0x807fffff|uint32(120+rng.IntN(40))<<23
		}
		m := machine{registers: map[string]uint64{string(x): uint64(a), string(y): uint64(b)}}
		m.run(t, p.text.String())
		u, v := math.Float32frombits(a), math.Float32frombits(b)
		for _, c := range []struct {
			name      string
			got, want float32
		}{{"/", m.float(string(q)), u / v}, {"root", m.float(string(root)), float32(math.Sqrt(float64(u)))}} {
			if math.Float32bits(c.got) != math.Float32bits(c.want) && (c.got == c.got || c.want == c.want) {
				t.Fatalf("%g %s %g: %g, want %g", u, c.name, v, c.got, c.want)
			}
		}
	}
}

// Only kernels with products in shared memory have them in place.
func TestDivides(t *testing.T) {
	for _, products := range []bool{false, true} {
		in := &shader.Buffer{Name: "a0", Type: ir.Float32}
		out := &shader.Buffer{Name: "a1", Type: ir.Float32, Write: true}
		tiles := &shader.Shared{Name: "w0", Type: shader.U32.Vec(4), Len: 1024, Align: 1024}
		body := &shader.Block{}
		x := &shader.Var{Name: "x", Type: shader.F32}
		body.Do(&shader.Load{Dst: []*shader.Var{x}, Declare: true, Buffer: in, Index: shader.ThreadID})
		acc := body.Var("acc", shader.Vec(4, x.Ref()))
		if products {
			a := shader.SharedMatrix{Shared: tiles, First: shader.Number(shader.U32, 0)}
			body.If(shader.GroupID.Eq(0), func(b *shader.Block) {
				b.Do(&shader.MultiplyGroup{Products: []shader.MultiplyShared{{Elem: shader.BF16Pairs, Acc: []*shader.Var{acc}, A: a, B: a}}})
			})
		}
		y := shader.Function("div_f32").Call(x.Ref(), acc.Ref().At(0)).Div(shader.Function("sqrt_f32").Call(x.Ref()))
		body.Do(&shader.Store{Buffer: out, Index: shader.ThreadID, Values: []*shader.Expr{y}})
		text := Print(&shader.Pass{Threads: 128, Grid: [3]int{2, 1, 1}, Body: body, Buffers: []*shader.Buffer{in, out}, Shared: []*shader.Shared{tiles}}, 90)
		if calls := strings.Count(text, "div.rn.f32") + strings.Count(text, "sqrt.rn.f32"); calls > 0 == products || strings.Contains(text, "rcp.approx") != products {
			t.Errorf("products: %v, divisions and roots that are functions: %d, in\n%s", products, calls, text)
		}
	}
}

// A machine executes the instructions of quotients and roots.
type machine struct{ registers map[string]uint64 }

func (m *machine) bits(s string) uint64 {
	switch {
	case s[0] == '%':
		return m.registers[s]
	case s[:2] == "0f" || s[:2] == "0d":
		n, _ := strconv.ParseUint(s[2:], 16, 64)
		return n
	}
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

func (m *machine) float(s string) float32 { return math.Float32frombits(uint32(m.bits(s))) }

// number is an operand of a type.
func (m *machine) number(s, typ string) float64 {
	if typ == "f64" {
		return math.Float64frombits(m.bits(s))
	}
	return float64(m.float(s))
}

func (m *machine) set(s, typ string, x float64) {
	if m.registers[s] = uint64(math.Float32bits(float32(x))); typ == "f64" {
		m.registers[s] = math.Float64bits(x)
	}
}

// near is an approximation of a number: of a float64 the upper half.
func near(typ string, x float64) float64 {
	if typ == "f64" && !math.IsInf(x, 0) {
		return math.Float64frombits(math.Float64bits(x) &^ math.MaxUint32)
	}
	return x
}

func (m *machine) run(t *testing.T, text string) {
	lines := strings.Split(text, "\n")
	for n := 0; n < len(lines); n++ {
		f := strings.Fields(strings.NewReplacer(",", " ", ";", "").Replace(lines[n]))
		if len(f) == 0 || strings.HasSuffix(f[0], ":") {
			continue
		}
		if cond, ok := strings.CutPrefix(f[0], "@!"); ok {
			if m.bits(cond) != 0 {
				continue
			}
			f = f[1:]
		}
		if f[0] == "bra" {
			for lines[n] != f[1]+":" {
				n++
			}
			continue
		}
		m.do(t, f[0], f[1:])
	}
}

func (m *machine) do(t *testing.T, op string, x []string) {
	name, _, _ := strings.Cut(op, ".")
	typ := op[strings.LastIndexByte(op, '.')+1:]
	number := func(i int) float64 { return m.number(x[i], typ) }
	is := func(b bool) { m.registers[x[0]] = map[bool]uint64{true: 1}[b] }
	switch name {
	case "mov":
		m.registers[x[0]] = m.bits(x[1])
	case "and":
		m.registers[x[0]] = m.bits(x[1]) & m.bits(x[2])
	case "or":
		m.registers[x[0]] = m.bits(x[1]) | m.bits(x[2])
	case "xor":
		m.registers[x[0]] = m.bits(x[1]) ^ m.bits(x[2])
	case "sub":
		m.registers[x[0]] = uint64(uint32(m.bits(x[1]) - m.bits(x[2])))
	case "selp":
		m.registers[x[0]] = m.bits(x[2])
		if m.bits(x[3]) != 0 {
			m.registers[x[0]] = m.bits(x[1])
		}
	case "setp":
		switch op {
		case "setp.lt.u32":
			is(m.bits(x[1]) < m.bits(x[2]))
		case "setp.lt.f32":
			is(number(1) < number(2))
		case "setp.gt.f32":
			is(number(1) > number(2))
		case "setp.neu.f32":
			is(number(1) != number(2))
		default:
			t.Fatal(op)
		}
	case "neg":
		m.set(x[0], typ, -number(1))
	case "abs":
		m.set(x[0], typ, math.Abs(number(1)))
	case "mul":
		m.set(x[0], typ, number(1)*number(2))
	case "fma":
		m.set(x[0], typ, fma(number(1), number(2), number(3), typ))
	case "cvt":
		_, from, _ := strings.Cut(strings.TrimPrefix(op, "cvt.rn"), "f")
		m.set(x[0], "f"+from[:2], m.number(x[1], typ))
	case "rcp":
		m.set(x[0], typ, near(typ, 1/number(1)))
	case "rsqrt":
		m.set(x[0], typ, near(typ, 1/math.Sqrt(number(1))))
	case "sqrt":
		m.set(x[0], typ, near(typ, math.Sqrt(number(1))))
	default:
		t.Fatal(op)
	}
}

// fma is x·y + z, rounded once.
func fma(x, y, z float64, typ string) float64 {
	switch sum := x*y + z; {
	case typ == "f64":
		return math.FMA(x, y, z)
	case sum == 0 || math.IsInf(sum, 0) || sum != sum:
		return sum
	}
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(x) }
	sum, _ := exact(0).Add(exact(0).Mul(exact(x), exact(y)), exact(z)).Float32()
	return float64(sum)
}
