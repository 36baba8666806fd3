package schedule

import (
	"bytes"
	le "encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A halfProduct multiplies matrices of halves. Flipped factors lie along the other axis.
type halfProduct struct {
	m, n, k                   int
	leftFlipped, rightFlipped bool
	half, out                 ir.DType
	bias                      bool // a bias and a ReLU follow
}

func (x halfProduct) kernel() *ir.Kernel {
	a, b := by(x.k, 0, 1), by(0, 1, x.n)
	if x.leftFlipped {
		a = by(1, 0, x.m)
	}
	if x.rightFlipped {
		b = by(0, x.k, 1)
	}
	body := []ir.Instr{load(f32, 0, a), load(f32, 1, b), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, 4)}
	if x.bias {
		body = append(body, load(f32, 2, by(0, 1, 0)), alu(ir.Add, f32, 3, 4), literal(f32, 0), alu(ir.Max, f32, 5, 6))
	}
	body = append(body, store(f32, len(body)-1, 3, by(x.n, 1, 0)))
	return kernel(ir.Contraction, []ir.Axis{{Len: x.m, Role: ir.M}, {Len: x.n, Role: ir.N}, {Len: x.k, Role: ir.K}},
		[]ir.Arg{in(x.half), in(x.half), in(x.half), out(x.out, x.m*x.n)}, body...)
}

// Products of halves that are copied to shared memory are right over several steps and past the ends of
// tiles, in all layouts of the factors. Each tile of groups computes them, and one tile of warps. Results
// are stored with and without a bias, as halves of either type and as floats.
func TestCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("computes large products")
	}
	for i, size := range [][3]int{{136, 264, 200}, {128, 256, 192}, {64, 60, 72}} {
		for flips := range 4 {
			x := halfProduct{m: size[0], n: size[1], k: size[2], leftFlipped: flips&1 != 0, rightFlipped: flips&2 != 0}
			x.half = []ir.DType{ir.Float16, ir.BFloat16}[(i+flips)%2]
			shared, copied := tiles.MeasuredH200.SharedHalves[x.half], tiles.MeasuredH200.CopiedHalves[x.half]
			list := shared
			if copies(x.kernel(), nvidia) {
				list = slices.Concat(shared, copied[(i+flips)%len(copied):][:1])
			}
			for n, l := range list {
				x.out = []ir.DType{ir.Float16, ir.BFloat16, f32}[(i+flips+n)%3]
				x.bias = (flips+n)%4 == 3
				k := x.kernel()
				if err := checkResults(byTile(t, k, l, 1), k, hopper, 0); err != nil {
					t.Fatalf("%+v by %d×%d: %v", x, l.M, l.N, err)
				}
			}
		}
	}
}

// productOf returns a contraction's product before a tile is chosen.
func productOf(k *ir.Kernel, t Target) *product.Product {
	return product.New(build.New(k, t.WithDefaults(), nil))
}

// copies reports whether both factors of a product can be copied.
func copies(k *ir.Kernel, t Target) bool {
	return tiles.CopiesBoth(productOf(k, t))
}

// Before Hopper tiles are copied where eight neighbours of both factors are a vector in memory. The
// largest ones take less time only along a great depth, which hides the wait for the first copies.
func TestTilesOfCopiedHalves(t *testing.T) {
	for _, c := range []struct {
		halfProduct
		want string
	}{
		{halfProduct{m: 8192, n: 8192, k: 8192}, "128x256x32:4x4/1"},
		{halfProduct{m: 4096, n: 4096, k: 4096, rightFlipped: true}, "128x256x32:4x4/1"},
		{halfProduct{m: 2048, n: 2048, k: 2048}, "128x128x32:4x4/1"},
		{halfProduct{m: 8192, n: 3072, k: 768}, "128x128x32:4x4/1"},
		{halfProduct{m: 1024, n: 1024, k: 1024}, "64x128x32:2x4/1"},
		{halfProduct{m: 4095, n: 4096, k: 4096}, "128x256x32:4x4/1"},
		{halfProduct{m: 4095, n: 4096, k: 4096, leftFlipped: true}, "128x128x16:4x4/1"},
		{halfProduct{m: 4096, n: 4096, k: 4095}, "128x128x16:4x4/1"},
		{halfProduct{m: 4096, n: 4095, k: 4096}, "128x128x16:4x4/1"},
	} {
		c.half, c.out = ir.BFloat16, ir.BFloat16
		if got := Choices(c.kernel(), nvidia)[0][0].String(); got != c.want {
			t.Errorf("%+v: tile %s, want %s", c.halfProduct, got, c.want)
		}
	}
	const d = ir.BFloat16 // 124 elements of rows of 128 are no whole number of vectors
	k := kernel(ir.Contraction, []ir.Axis{{Len: 128, Role: ir.M}, {Len: 128, Role: ir.N}, {Len: 124, Role: ir.K}}, []ir.Arg{in(d), in(d), out(d, 128*128)},
		load(f32, 0, by(128, 0, 1)), load(f32, 1, by(0, 128, 1)), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, 4), store(f32, 3, 2, by(128, 1, 0)))
	for _, list := range Choices(k, nvidia) {
		if l := list[0].Layout; slices.Contains(tiles.MeasuredH200.CopiedHalves[d], l) {
			t.Errorf("a part of each row: tile %v copies", list[0])
		}
	}
}

// A compute unit with less shared memory runs fewer workgroups at once.
func TestResidentWorkgroups(t *testing.T) {
	k := halfProduct{m: 2048, n: 2048, k: 2048, half: ir.BFloat16, out: ir.BFloat16}.kernel()
	ada := nvidia
	ada.TileBytes = 99 << 10
	for _, c := range []struct {
		target Target
		want   []int // by tile of copied halves
	}{{nvidia, []int{1, 2, 3, 4}}, {ada, []int{1, 1, 1, 1}}} {
		for i, l := range tiles.MeasuredH200.CopiedHalves[ir.BFloat16] {
			if got := byTileOn(t, k, c.target, l, 1).Passes[0].Resident; got != c.want[i] {
				t.Errorf("%d bytes: tile %d×%d runs %d times, want %d", c.target.TileBytes, l.M, l.N, got, c.want[i])
			}
		}
	}
}

// Workgroups have shares of the depth where tiles would leave compute units idle, as in the gradient of a weight, and else
// none.
func TestShares(t *testing.T) {
	const d = ir.BFloat16
	for _, c := range []struct {
		m, n, k int
		updates bool // results update three matrices
		shares  bool
	}{
		{3072, 768, 8192, true, true},
		{768, 768, 8192, true, true},
		{2304, 768, 8192, true, true},
		{8192, 768, 3072, false, false},
		{4096, 4096, 4096, true, false},
		{8192, 3072, 768, false, false},
	} {
		at := by(c.n, 1, 0)
		args := []ir.Arg{in(d), in(d)}
		body := []ir.Instr{load(f32, 0, by(1, 0, c.m)), load(f32, 1, by(0, 1, c.n)), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, 4)}
		if c.updates {
			for i := range 3 {
				args = append(args, in(f32), out(f32, c.m*c.n))
				body = append(body, load(f32, 2+2*i, at), alu(ir.Add, f32, 3, len(body)), store(f32, len(body)+1, 3+2*i, at))
			}
		} else {
			args, body = append(args, out(d, c.m*c.n)), append(body, store(f32, 3, 2, at))
		}
		k := kernel(ir.Contraction, []ir.Axis{{Len: c.m, Role: ir.M}, {Len: c.n, Role: ir.N}, {Len: c.k, Role: ir.K}}, args, body...)
		if got := Choices(k, hopper)[0][0]; got.Shares > 0 != c.shares {
			t.Errorf("%+v: by %v", c, got)
		}
	}
}

// toHalf is the bits of a number as a half.
func toHalf(d ir.DType, x float32) uint16 {
	if d == ir.Float16 {
		return uint16(ir.ToF16(x))
	}
	return uint16(ir.ToBF16(x))
}

// Sums of products of halves are stored right in all forms of results: batches, several axes of a side,
// results along the rows, parts of a larger array, also such as lie where positions have 64 bits, several
// stores, and sums of parts of the depth.
func TestHalfResults(t *testing.T) {
	axis := func(n int, role ir.Role) ir.Axis { return ir.Axis{Len: n, Role: role} }
	part := func(a ir.Arg) ir.Arg {
		a.Part = true
		return a
	}
	const d = ir.BFloat16
	flat := []ir.Axis{axis(70, ir.M), axis(72, ir.N), axis(128, ir.K)}
	for _, c := range []struct {
		name          string
		axes          []ir.Axis
		a, b          *ir.View
		results       []ir.Arg
		views         []*ir.View
		target        Target
		splits, start int // below 0: shares, see byTileOn
	}{
		{"batches", []ir.Axis{axis(3, ir.Batch), axis(66, ir.M), axis(40, ir.N), axis(72, ir.K)}, by(66*72, 72, 0, 1), by(40*72, 0, 72, 1),
			[]ir.Arg{out(d, 3*66*40)}, []*ir.View{by(66*40, 40, 1, 0)}, hopper, 1, 0},
		{"two axes of a side", []ir.Axis{axis(2, ir.M), axis(64, ir.M), axis(3, ir.N), axis(24, ir.N), axis(64, ir.K)}, by(64, 128, 0, 0, 1), by(0, 0, 24, 1, 72),
			[]ir.Arg{out(d, 128*72)}, []*ir.View{by(24*64, 24, 2*24*64, 1, 0)}, hopper, 1, 0},
		{"along the rows", flat, by(128, 0, 1), by(0, 1, 72), []ir.Arg{out(d, 72*72)}, []*ir.View{by(1, 72, 0)}, hopper, 1, 0},
		{"rows that are no vectors", flat, by(128, 0, 1), by(0, 1, 72), []ir.Arg{out(d, 70*74)}, []*ir.View{by(74, 1, 0)}, hopper, 1, 0},
		{"from the third on", flat, by(128, 0, 1), by(0, 1, 72), []ir.Arg{out(d, 70*72+3)}, []*ir.View{{Off: 3, Coef: []int{72, 1, 0}}}, hopper, 1, 0},
		{"a part", flat, by(128, 0, 1), by(0, 128, 1), []ir.Arg{part(out(d, 70*72))}, []*ir.View{by(72, 1, 0)}, hopper, 1, 24},
		{"a part of floats", flat, by(128, 0, 1), by(0, 1, 72), []ir.Arg{part(out(f32, 70*72))}, []*ir.View{by(72, 1, 0)}, hopper, 1, 24},
		{"a part far away", flat, by(128, 0, 1), by(0, 1, 72), []ir.Arg{part(out(d, 70*72))}, []*ir.View{by(72, 1, 0)}, scheduletest.Positions64(hopper), 1, 1024},
		{"two stores", flat, by(128, 0, 1), by(0, 1, 72), []ir.Arg{out(d, 70*72), out(f32, 70*72)}, []*ir.View{by(72, 1, 0), by(72, 1, 0)}, hopper, 1, 0},
		{"sums of parts", flat, by(128, 0, 1), by(0, 1, 72), []ir.Arg{out(d, 70*72)}, []*ir.View{by(72, 1, 0)}, hopper, 2, 0},
		{"shares", []ir.Axis{axis(1100, ir.M), axis(264, ir.N), axis(200, ir.K)}, by(1, 0, 1104), by(0, 1, 264),
			[]ir.Arg{out(d, 1100*264), out(f32, 1100*264)}, []*ir.View{by(264, 1, 0), by(264, 1, 0)}, hopper, -3, 0},
		{"shares of batches", []ir.Axis{axis(3, ir.Batch), axis(2, ir.M), axis(33, ir.M), axis(40, ir.N), axis(400, ir.K)}, by(66*400, 33*400, 400, 0, 1), by(40*400, 0, 0, 400, 1),
			[]ir.Arg{part(out(d, 3*66*40))}, []*ir.View{by(66*40, 33*40, 40, 1, 0)}, hopper, -3, 24},
		{"shares of odd rows", []ir.Axis{axis(70, ir.M), axis(266, ir.N), axis(136, ir.K)}, by(136, 0, 1), by(0, 136, 1),
			[]ir.Arg{out(d, 70*266)}, []*ir.View{by(266, 1, 0)}, scheduletest.Positions64(hopper), -2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := []ir.Instr{load(f32, 0, c.a), load(f32, 1, c.b), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, ir.Axes(len(c.axes)-1))}
			args := []ir.Arg{in(d), in(d)}
			for i, r := range c.results {
				args = append(args, r)
				body = append(body, store(f32, 3, 2+i, c.views[i]))
			}
			k := kernel(ir.Contraction, c.axes, args, body...)
			if err := ir.Verify(k); err != nil {
				t.Fatal(err)
			}
			list := tiles.MeasuredH200.SharedHalves[d]
			if copies(k, c.target) && c.splits > 0 {
				list = slices.Concat(list, tiles.MeasuredH200.CopiedHalves[d])
			}
			for i, l := range list {
				if testing.Short() && i > 0 || c.splits < 0 && i > 1 {
					continue
				}
				if err := checkResults(byTileOn(t, k, c.target, l, c.splits), k, c.target, c.start); err != nil {
					t.Fatalf("by %d×%d: %v", l.M, l.N, err)
				}
			}
		})
	}
}

// checkResults runs a program for a product of halves, and compares the results that it stores from an
// offset on: sums, or sums after a bias and a ReLU. It stores nothing elsewhere.
func checkResults(p *shader.Program, k *ir.Kernel, target Target, offset int) error {
	const unused = 0x5a
	signature := SignatureOf(k, target)
	args, calls := make([]simt.Arg, len(k.Args)), make([]driver.Arg, len(k.Args))
	want := make([][]byte, len(k.Args))
	factor := func(arg, i int) float32 { return float32((5+2*arg)*i%7 - 3) }
	for i, a := range k.Args {
		n := shape.Reaches(k)[i].Hi
		data := make([]byte, 2*n)
		if a.Kind == ir.In {
			for at := range n {
				le.LittleEndian.PutUint16(data[2*at:], toHalf(a.DType, factor(i, at)))
			}
		} else {
			data = bytes.Repeat([]byte{unused}, (offset+n)*a.DType.Size())
			calls[i].Offset = offset
		}
		base := signature.Base(i, calls)
		args[i] = simt.Arg{Data: data, Base: base, Offset: calls[i].Offset - base}
		want[i] = slices.Clone(data)
	}
	at := make([]int, len(k.Axes)) // a point
	place := func(v *ir.View) int {
		n := v.Off
		for a, c := range v.Coef {
			n += c * at[a]
		}
		return n
	}
	depth, points := len(k.Axes)-1, 1
	for _, a := range k.Axes[:depth] {
		points *= a.Len
	}
	for number := range points {
		for a := range slices.Backward(k.Axes[:depth]) {
			at[a], number = number%k.Axes[a].Len, number/k.Axes[a].Len
		}
		sums := make([]float32, len(k.Body))
		for i, in := range k.Body {
			if in.Op != ir.Sum {
				continue
			}
			m := &k.Body[in.Src[0]]
			left, right := &k.Body[m.Src[0]], &k.Body[m.Src[1]]
			for at[depth] = range k.Axes[depth].Len {
				sums[i] += factor(left.Arg, place(left.View)) * factor(right.Arg, place(right.View))
			}
		}
		for _, in := range k.Body {
			if in.Op != ir.Store {
				continue
			}
			from := &k.Body[in.Src[0]]
			result, d := sums[in.Src[0]], k.Args[in.Arg].DType
			switch from.Op {
			case ir.Max:
				result = max(sums[3]+factor(2, place(k.Body[4].View)), 0)
			case ir.Sub:
				result = sums[from.Src[0]] - sums[from.Src[1]]
			}
			to := want[in.Arg][(offset+place(in.View))*d.Size():]
			if d == f32 {
				le.LittleEndian.PutUint32(to, math.Float32bits(result))
			} else {
				le.LittleEndian.PutUint16(to, toHalf(d, result))
			}
		}
	}
	if err := simt.Compile(p).Run(args); err != nil {
		return err
	}
	for i, want := range want {
		for at, x := range want {
			if args[i].Data[at] != x {
				return fmt.Errorf("byte %d of argument %d is %d, want %d", at, i, args[i].Data[at], x)
			}
		}
	}
	return nil
}
