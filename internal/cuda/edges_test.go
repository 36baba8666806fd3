//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	_ "github.com/tensorken/tensorken/internal/blocks"
	nodes "github.com/tensorken/tensorken/internal/graph"
	_ "github.com/tensorken/tensorken/internal/schedule/packed"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A kernel of a graph follows those whose memory it uses, directly.
func TestDependences(t *testing.T) {
	var buffers [6]buffer
	pass := func(uses string) (l launch, memory []*buffer) { // letters: capital ones are written
		l.pass = &pass{}
		for _, c := range uses {
			l.pass.buffers = append(l.pass.buffers, shader.Buffer{Write: c < 'a'})
			memory = append(memory, &buffers[(c|0x20)-'a'])
		}
		return l, memory
	}
	for _, c := range []struct {
		name   string
		passes []string
		want   string
	}{
		{"a chain", []string{"aB", "bC", "cD"}, "[[] [0] [1]]"},
		{"apart", []string{"aB", "cD", "bE"}, "[[] [] [0]]"},
		{"two readers and a writer", []string{"aB", "bC", "bD", "eB"}, "[[] [0] [0] [2 1]]"},
		{"in place", []string{"aA", "aA", "aB"}, "[[] [0] [1]]"},
		{"twice in a pass", []string{"aAa", "aB"}, "[[] [0]]"},
		{"a writer after a writer", []string{"aB", "cB"}, "[[] [0]]"},
		{"a join", []string{"aB", "aC", "bcD"}, "[[] [] [1 0]]"},
		{"known by another", []string{"aB", "bC", "bcD"}, "[[] [0] [1]]"},
		{"readers alone", []string{"aB", "aC", "aD"}, "[[] [] []]"},
		{"many", append(slices.Repeat([]string{"aB", "cD"}, 40), "bdE"), "[79 78]"},
	} {
		var g graph
		for _, uses := range c.passes {
			l, memory := pass(uses)
			l.memory = len(g.memory)
			g.launches, g.memory = append(g.launches, l), append(g.memory, memory...)
		}
		got := fmt.Sprint(g.dependences(false))
		if c.name == "many" {
			got = fmt.Sprint(g.dependences(false)[80])
		}
		if got != c.want {
			t.Errorf("%s: launches follow %s, want %s", c.name, got, c.want)
		}
		for k, list := range g.dependences(true) {
			if k > 0 && !slices.Equal(list, []int{k - 1}) || k == 0 && list != nil {
				t.Errorf("%s: in a row launch %d follows %v", c.name, k, list)
			}
		}
	}
}

// A graph of random calls on few buffers gives the elements that the calls give one after the other.
func TestGraphRandom(t *testing.T) {
	eachDriver(t, func(t *testing.T, d driver.Device) {
		const n = 4
		r, rng := rig{t, d}, rand.New(rand.NewPCG(1, 2))
		p := r.compile(shifted(n))
		var buffers [7]driver.Buffer
		for i := range buffers {
			buffers[i] = r.alloc(4 * n)
		}
		for turn := range 60 {
			var calls []driver.Call
			var uses [][3]int
			for range 3 + rng.IntN(30) {
				u := [3]int{rng.IntN(len(buffers)), rng.IntN(len(buffers)), rng.IntN(100)}
				uses = append(uses, u)
				calls = append(calls, driver.Call{Program: p, Args: []driver.Arg{{Buffer: buffers[u[1]]}, {Buffer: buffers[u[0]]}, {Num: ir.Int(ir.Int32, int64(u[2]))}}})
			}
			for again := range 3 { // the first time without a graph
				var want [len(buffers)]uint32
				for i, b := range buffers {
					want[i] = uint32(1000 * (i + again))
					data := make([]byte, 4*n)
					binary.LittleEndian.PutUint32(data, want[i])
					if err := d.Upload(b, 0, data); err != nil {
						t.Fatal(err)
					}
				}
				if err := d.Run(calls); err != nil {
					t.Fatal(err)
				}
				for _, u := range uses {
					want[u[1]] = want[u[0]] + uint32(u[2])
				}
				for i, b := range buffers {
					got := make([]byte, 4)
					if err := d.Download(got, b, 0); err != nil || binary.LittleEndian.Uint32(got) != want[i] {
						t.Fatalf("turn %d, run %d of %v: buffer %d has %v, %v, want %d", turn, again, uses, i, got, err, want[i])
					}
				}
			}
		}
	})
}

// Calls that use scratch follow each other only if their scratch is a good part of the memory.
func TestScratchSets(t *testing.T) {
	for _, c := range []struct {
		memory int64
		sets   int
	}{{1 << 30, maxScratchSets}, {400 << 10, 1}} {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		f := newFake(t, c.memory)
		d, err := f.open(Options{Graphs: true})
		if err != nil {
			t.Fatal(err)
		}
		const n, calls = 1 << 16, 9
		r := rig{t, d}
		p := r.compile(summed(n))
		if passes := len(p.(*program).passes); passes != 2 {
			t.Fatalf("a sum of %d numbers has %d passes, want 2", n, passes)
		}
		x := r.alloc(4 * n)
		if err := d.Upload(x, 0, bytes.Repeat([]byte{1, 0, 0, 0}, n)); err != nil {
			t.Fatal(err)
		}
		var list []driver.Call
		for range calls {
			list = append(list, driver.Call{Program: p, Args: []driver.Arg{{Buffer: r.alloc(4)}, {Buffer: x}}})
		}
		for range 2 {
			if err := d.Run(list); err != nil {
				t.Fatal(err)
			}
		}
		for i := range list {
			got := make([]byte, 4)
			if err := d.Download(got, list[i].Args[0].Buffer, 0); err != nil || binary.LittleEndian.Uint32(got) != n {
				t.Errorf("%d bytes of memory: sum %d is %v, %v, want %d", c.memory, i, got, err, n)
			}
		}
		for _, g := range f.graphs {
			free := 0
			for _, n := range g.nodes {
				if len(g.before[n]) == 0 {
					free++
				}
			}
			if free != c.sets || len(g.nodes) != 2*calls {
				t.Errorf("%d bytes of memory: of %d nodes %d follow none, want %d of %d", c.memory, len(g.nodes), free, c.sets, 2*calls)
			}
		}
		if len(f.graphs) != 1 {
			t.Errorf("there are %d graphs, want 1", len(f.graphs))
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Graphs whose arguments alias each other otherwise than before get edges of their own, and after some the
// kernels run in a row, until they settle.
func TestGraphAlias(t *testing.T) {
	f := eachDriver(t, func(t *testing.T, d driver.Device) {
		const n = 8
		r := rig{t, d}
		p := r.compile(shifted(n))
		var buffers [8]driver.Buffer
		for i := range buffers {
			buffers[i] = r.alloc(4 * n)
		}
		// Each call adds 1 to a buffer and writes another.
		turns := [][][2]int{
			{{0, 1}, {2, 3}, {4, 5}, {1, 6}},
			{{0, 1}, {2, 3}, {4, 5}, {1, 6}},
			{{4, 5}, {6, 7}, {0, 1}, {5, 2}}, // other buffers, as before
			{{0, 1}, {1, 2}, {2, 3}, {3, 4}},
			{{0, 1}, {1, 2}, {2, 3}, {3, 4}},
			{{0, 1}, {2, 1}, {1, 3}, {3, 1}},
			{{0, 0}, {0, 0}, {0, 1}, {1, 0}},
			{{0, 1}, {1, 1}, {1, 2}, {2, 2}},
			{{3, 4}, {1, 3}, {3, 5}, {5, 1}},
			{{3, 4}, {4, 5}, {1, 3}, {3, 1}},
		}
		for turn, uses := range append(turns, slices.Repeat(turns[len(turns)-1:], settled)...) {
			var want [len(buffers)]uint32
			for i, b := range buffers {
				want[i] = uint32(100 * i)
				data := make([]byte, 4*n)
				for k := range n {
					binary.LittleEndian.PutUint32(data[4*k:], want[i])
				}
				if err := d.Upload(b, 0, data); err != nil {
					t.Fatal(err)
				}
			}
			var calls []driver.Call
			for _, u := range uses {
				calls = append(calls, driver.Call{Program: p, Args: []driver.Arg{{Buffer: buffers[u[1]]}, {Buffer: buffers[u[0]]}, {Num: ir.Int(ir.Int32, 1)}}})
				want[u[1]] = want[u[0]] + 1
			}
			if err := d.Run(calls); err != nil {
				t.Fatal(err)
			}
			for i, b := range buffers {
				data := make([]byte, 4*n)
				if err := d.Download(data, b, 0); err != nil {
					t.Fatal(err)
				}
				if got := binary.LittleEndian.Uint32(data[4*(n-1):]); got != want[i] {
					t.Errorf("turn %d: buffer %d has %d, want %d", turn, i, got, want[i])
				}
			}
		}
	})
	if n := f.count("GraphInstantiateWithFlags"); n != 1+maxRemade+2 {
		t.Errorf("%d graphs were made, want %d", n, 1+maxRemade+2)
	}
}

// Products by packed weights begin before the kernels that they follow have ended, and compute the same.
func TestGraphAhead(t *testing.T) {
	for _, c := range []struct{ capability, ahead int }{{90, 4}, {80, 0}} {
		f := eachDriver(t, func(t *testing.T, drv driver.Device) {
			if d, ok := drv.(*simulated); ok {
				d.gpu.Capability = c.capability
			}
			testAhead(t, drv)
		})
		if n := f.count("GraphAddDependencies_v2"); n != c.ahead {
			t.Errorf("compute capability %d: %d products begin ahead of the product before, want %d", c.capability, n, c.ahead)
		}
	}
}

func testAhead(t *testing.T, drv driver.Device) {
	const n, layers = 64, 5
	formats := ir.Formats()
	q8 := formats[slices.IndexFunc(formats, func(d ir.DType) bool { return d.String() == "Q8_0" })]
	d, rng := tensor.NewDevice(drv), rand.New(rand.NewPCG(1, 2))
	defer d.Close()
	var weights []tensor.Tensor
	for range layers {
		b := make([]byte, q8.Bytes(n*n))
		for i := range b {
			if b[i] = byte(rng.Uint32()); i%q8.Format().Bytes < 2 { // the scale, 2⁻¹¹
				b[i] = byte(i%q8.Format().Bytes) * 0x10
			}
		}
		weights = append(weights, tensor.Internal.FromBlocks(nodes.Token{}, "test", q8, []int{n, n}, b).To(d))
	}
	step := grad.Jit(func(x tensor.Tensor) tensor.Tensor {
		for _, w := range weights {
			x = x.MatMul(w.T()).Tanh()
		}
		return x
	})
	x := tensor.Arange(n).Sub(n/2).Div(n).Reshape(1, n).To(d)
	var want []float32
	for turn := range 5 { // the first ones without a graph
		got, err := tensor.Data[float32](step(x))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Fatalf("step %d differs from the first one", turn)
		}
	}
}

// A launch begins ahead of the end of another one if it loads memory first that no launch before it in its graph
// writes, or waits for one that waits, too.
func TestAhead(t *testing.T) {
	var weights, x, y, z buffer
	uses := map[*pass][]*buffer{}
	made := func(awaits, ahead bool, memory ...*buffer) *pass { // the last buffer is written
		p := &pass{awaits: awaits, buffers: make([]shader.Buffer, len(memory))}
		p.buffers[0].Ahead, p.buffers[len(memory)-1].Write = ahead, true
		uses[p] = memory
		return p
	}
	for _, c := range []struct {
		name   string
		passes []*pass
		want   string
	}{
		{"weights", []*pass{made(false, false, &x), made(true, true, &weights, &x, &y)}, "[false true]"},
		{"weights in a row", []*pass{made(false, false, &x), made(true, true, &weights, &x, &y)}, "[false false]"},
		{"a chain in a row", []*pass{made(true, false, &x), made(true, false, &x, &y), made(true, false, &y, &z)}, "[false true true]"},
		{"written weights", []*pass{made(false, false, &weights), made(true, true, &weights, &x, &y)}, "[false false]"},
		{"weights written later", []*pass{made(false, false, &x), made(true, true, &weights, &x, &y), made(false, false, &weights)}, "[false true false]"},
		{"a chain", []*pass{made(true, false, &x), made(true, false, &x, &y), made(true, false, &y, &z)}, "[false true true]"},
		{"after one that does not wait", []*pass{made(false, false, &x), made(true, false, &x, &y)}, "[false false]"},
		{"beside another", []*pass{made(true, false, &x), made(true, false, &x, &y), made(true, false, &x, &z)}, "[false true true]"},
		{"after two", []*pass{made(true, false, &x), made(true, false, &y), made(true, true, &weights, &x, &y, &z)}, "[false false false]"},
		{"one that does not wait", []*pass{made(true, false, &x), made(false, false, &x, &y)}, "[false false]"},
	} {
		var g graph
		for _, p := range c.passes {
			g.launches, g.memory = append(g.launches, launch{pass: p, memory: len(g.memory)}), append(g.memory, uses[p]...)
		}
		row := strings.HasSuffix(c.name, "in a row")
		if got := fmt.Sprint(g.ahead(g.dependences(row), row)); got != c.want {
			t.Errorf("%s: launches are ahead: %s, want %s", c.name, got, c.want)
		}
	}
}
