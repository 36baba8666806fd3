package schedule

import (
	le "encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// The norm of a token is computed in the product that follows, once a workgroup, on every kind of device.
func TestNormsInProducts(t *testing.T) {
	discrete := Target{Family: Discrete, SubgroupMin: 32, SubgroupMax: 32, SharedBytes: 32 << 10, Units: 8}
	whole := Target{Family: Discrete, Units: 8}
	few := hopper
	few.Units = 8
	for i, c := range []struct {
		name   string
		target Target
		weight string // a format, or none, or across: columns of it are multiplied
		d      tensor.DType
		n, k   int
		layer  bool // a layer norm: two levels
	}{
		{"halves", few, "", tensor.BFloat16, 128, 2048, false},
		{"a rest of points", few, "", tensor.BFloat16, 131, 1928, true},
		{"float32", few, "", tensor.Float32, 128, 1024, true},
		{"a discrete GPU", discrete, "", tensor.Float16, 128, 1536, true},
		{"no memory to share", discrete, "", tensor.Float16, 96, 12288, false},
		{"no subgroups", whole, "", tensor.Float32, 40, 1024, false},
		{"few rows", few, "", tensor.BFloat16, 24, 1024, true},
		{"few rows of a rest", few, "", tensor.Float16, 24, 1000, false},
		{"few rows on a discrete GPU", discrete, "", tensor.Float32, 24, 1024, true},
		{"columns", few, "across", tensor.Float32, 256, 200, true},
		{"columns on a discrete GPU", discrete, "across", tensor.Float16, 64, 1100, true},
		{"columns of few, cut", few, "across", tensor.Float32, 8, 4096, false},
		{"a kernel for one thread a row", software, "", tensor.Float32, 24, 96, true},
		{"short rows", few, "", tensor.Float32, 24, 96, true},
		{"blocks", few, "Q8_0", tensor.Float32, 48, 2048, true},
		{"blocks of groups", few, "Q4_K", tensor.Float32, 48, 1280, false},
		{"blocks on a discrete GPU", discrete, "Q8_0", tensor.Float32, 48, 1024, true},
		{"blocks without subgroups", whole, "Q4_0", tensor.Float32, 48, 1024, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			kernels := 0
			target := c.target.WithDefaults()
			ref := attender(t, target, func(*ir.Kernel) { kernels++ })
			ref.Machine = target.Machine
			if target.Matrices {
				ref.Machine = scheduletest.Matrices
			}
			d := tensor.NewDevice(ref)
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			x, g := normal(rng, 1, c.k).Cast(c.d), normal(rng, c.k).Cast(c.d)
			weight := func() tensor.Tensor {
				switch c.weight {
				case "across":
					return normal(rng, c.k, c.n).Cast(c.d)
				case "":
				default:
					return randomBlocks(rng, formatOf(c.weight), c.n, c.k)
				}
				return normal(rng, c.n, c.k).Cast(c.d)
			}
			gate, up := weight(), weight()
			gated := func(y, gate, up tensor.Tensor) tensor.Tensor {
				if c.weight != "across" {
					gate, up = gate.T(), up.T()
				}
				return y.MatMul(gate).Mul(y.MatMul(up))
			}
			norm := func(x, g tensor.Tensor) tensor.Tensor {
				if c.layer {
					x = x.Sub(x.Mean(-1).Unsqueeze(-1))
				}
				return x.Mul(x.Mul(x).Mean(-1).Unsqueeze(-1).Add(1e-5).Rsqrt()).Mul(g)
			}
			f64 := tensor.Float64
			want, err := tensor.Data[float64](gated(norm(x.Cast(f64), g.Cast(f64)), gate.Cast(f64), up.Cast(f64)))
			if err != nil {
				t.Fatal(err)
			}
			x, g, gate, up = x.To(d), g.To(d), gate.To(d), up.To(d)
			if err := tensor.Eval([]tensor.Tensor{x, g, gate, up}); err != nil {
				t.Fatal(err)
			}
			kernels = 0
			y := norm(x.Cast(tensor.Float32), g.Cast(tensor.Float32))
			if c.weight == "" || c.weight == "across" {
				y = y.Cast(c.d)
			}
			got := floatsOf(t, gated(y, gate, up).Cast(tensor.Float32))
			if kernels != 1 {
				t.Errorf("%d kernels, want 1", kernels)
			}
			if e := errorOf(got, want); !(e < map[tensor.DType]float64{tensor.Float32: 1e-4, tensor.Float16: 1e-3, tensor.BFloat16: 1e-2}[c.d]) {
				t.Errorf("the error is %.2g of the result", e)
			}
		})
	}
}

// Reductions of a workgroup, of rows, and vectors have room in shared memory.
func TestSharedMemoryOfNorms(t *testing.T) {
	for _, c := range []struct {
		name     string
		target   Target
		n, k     int
		across   bool
		matrices int
	}{
		{"vectors, and a number of each thread for each product", Target{Family: Discrete, Units: 8, SharedBytes: 32 << 10}, 24, 6144, false, 8},
		{"rows across many threads", Target{Family: Discrete, Units: 8, MaxThreads: 1024, SubgroupMin: 32, SubgroupMax: 32}, 64, 8192, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			kernels := 0
			target := c.target.WithDefaults()
			ref := attender(t, target, func(*ir.Kernel) { kernels++ })
			ref.Machine = target.Machine
			d, rng := tensor.NewDevice(ref), rand.New(rand.NewPCG(1, 1))
			list := []tensor.Tensor{normal(rng, 1, c.k)}
			for range c.matrices {
				if list = append(list, normal(rng, c.n, c.k)); c.across {
					list[len(list)-1] = normal(rng, c.k, c.n)
				}
			}
			product := func(list []tensor.Tensor) tensor.Tensor {
				x := list[0].Sub(list[0].Mean(-1).Unsqueeze(-1))
				x = x.Mul(x.Mul(x).Mean(-1).Unsqueeze(-1).Add(1e-5).Rsqrt())
				if c.across { // four levels
					x = x.Sub(x.Max(-1).Unsqueeze(-1)).Exp()
					x = x.Div(x.Sum(-1).Unsqueeze(-1))
				}
				y := tensor.Scalar(1)
				for _, w := range list[1:] {
					if !c.across {
						w = w.T()
					}
					y = y.Mul(x.MatMul(w))
				}
				return y
			}
			want := floatsOf(t, product(list))
			for i := range list {
				list[i] = list[i].To(d)
			}
			if err := tensor.Eval(list); err != nil {
				t.Fatal(err)
			}
			kernels = 0
			got := floatsOf(t, product(list))
			if kernels != 1 {
				t.Errorf("%d kernels, want 1", kernels)
			}
			for i := range want {
				if math.Abs(float64(got[i]-want[i])) > 1e-3*math.Abs(float64(want[i]))+1e-4 {
					t.Fatalf("element %d: %g, want %g", i, got[i], want[i])
				}
			}
		})
	}
}

// Kernels whose rows share a sum: of the elements of several rows of a packed product none is added twice, and threads that hold
// rows of halves need not compute all vectors.
func TestSharedSums(t *testing.T) {
	q8 := formatOf("Q8_0")
	packed := kernel(ir.Reduce, []ir.Axis{kept(2), kept(48), reduced(1024)}, []ir.Arg{out(f32, 96), in(f32), in(f32), in(q8)},
		load(f32, 1, by(1024, 0, 1)), load(f32, 2, by(0, 0, 1)), reduction(ir.Sum, f32, 1, ir.Axes(2)), alu(ir.Mul, f32, 0, 2),
		load(f32, 3, by(0, 1024, 1)), alu(ir.Mul, f32, 3, 4), reduction(ir.Sum, f32, 5, ir.Axes(2)), store(f32, 6, 0, by(48, 1, 0)))
	undefined := in(f32)
	undefined.Undefined = true
	halves := kernel(ir.Reduce, []ir.Axis{kept(4), reduced(8192)}, []ir.Arg{out(f32, 4), undefined, in(ir.BFloat16)},
		ir.Instr{Op: ir.Index, Type: i32, Axis: 1}, literal(i32, 3000), alu(ir.Lt, ir.Bool, 0, 1), load(f32, 1, by(0, 1)), literal(f32, 0),
		alu(ir.Where, f32, 2, 3, 4), reduction(ir.Sum, f32, 5, ir.Axes(1)), alu(ir.Mul, f32, 5, 6),
		load(f32, 2, by(8192, 1)), alu(ir.Mul, f32, 7, 8), reduction(ir.Sum, f32, 9, ir.Axes(1)), store(f32, 10, 0, by(1, 0)))
	for _, k := range []*ir.Kernel{packed, halves} {
		if err := ir.Verify(k); err != nil {
			t.Fatal(err)
		}
		few := hopper
		few.Units = 8
		var results [2][]byte
		for i, target := range []Target{few, {Family: Software}} {
			rng := rand.New(rand.NewPCG(1, 2))
			results[i] = make([]byte, 4*k.Args[0].Len)
			args := []simt.Arg{{Data: results[i]}}
			for _, a := range k.Args[1:] {
				b := make([]byte, a.DType.Bytes(48*1024))
				for at := 0; at < len(b); at++ {
					switch x := math.Float32bits(rng.Float32()); {
					case a.DType == f32 && at%4 == 0:
						le.LittleEndian.PutUint32(b[at:], x)
					case a.DType == ir.BFloat16 && at%2 == 0:
						le.LittleEndian.PutUint16(b[at:], uint16(x>>16))
					case a.DType == q8 && at%34 == 1: // of the scale
						b[at] = 0x20
					case a.DType == q8:
						b[at] = byte(x) & 0x3f
					}
				}
				args = append(args, simt.Arg{Data: b})
			}
			p, err := Compile(k, target.WithDefaults())
			if err == nil {
				err = simt.Compile(p).Run(args)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range k.Args[0].Len {
			at := func(b []byte) float64 { return float64(math.Float32frombits(le.LittleEndian.Uint32(b[4*i:]))) }
			if x, y := at(results[0]), at(results[1]); !(math.Abs(x-y) <= 1e-3*math.Abs(y)) {
				t.Errorf("%v axes: element %d is %v, want %v", len(k.Axes), i, x, y)
				break
			}
		}
	}
}
