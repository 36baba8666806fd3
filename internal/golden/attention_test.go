package golden

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A census is a dry device that counts calls by their kind.
type census struct {
	*dryLooper
	calls map[string]int
}

func (c *census) Compile(k *ir.Kernel) (driver.Program, error) {
	_, err := c.dry.Compile(k)
	return k.Template.String(), err
}

func (c *census) CompileLoop(l *ir.Loop) (driver.Program, error) {
	_, err := c.dryLooper.CompileLoop(l)
	return "loop", err
}

func (c *census) Run(calls []driver.Call) error {
	for _, x := range calls {
		c.calls[x.Program.(string)]++
	}
	return nil
}

// count returns the calls that compute some tensors, as text.
func (c *census) count(t *testing.T, roots any) string {
	clear(c.calls)
	if err := tensor.Eval(roots); err != nil {
		t.Error(err)
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.calls)) {
		list = append(list, fmt.Sprint(c.calls[name], " ", name))
	}
	return strings.Join(list, ", ")
}

// A way is one in which attention is written, for q, k, v and something else, such as a mask.
type way struct {
	name    string
	q, k, v []int
	more    []int
	apply   func(q, k, v, more tensor.Tensor) tensor.Tensor
}

const attendLength, attendWidth = 512, 64

func byHand(q, k, v tensor.Tensor, masked func(s tensor.Tensor) tensor.Tensor) tensor.Tensor {
	return masked(q.MatMul(k.T()).Div(math.Sqrt(attendWidth))).Softmax(-1).MatMul(v)
}

func unmasked(s tensor.Tensor) tensor.Tensor { return s }

func withOptions(o tensor.AttentionOptions) func(q, k, v, more tensor.Tensor) tensor.Tensor {
	return func(q, k, v, more tensor.Tensor) tensor.Tensor {
		o := o
		if o.Offset == "more" {
			o.Offset = more
		} else if more.Rank() > 1 {
			o.Mask = more
		}
		return tensor.Attention(q, k, v, &o)
	}
}

// ways are ways in which attention is written by hand, and options of tensor.Attention.
func ways() []way {
	const b, h, n, w = 2, 4, attendLength, attendWidth
	heads, turned, one, many := []int{b, h, n, w}, []int{b, n, h, w}, []int{h, 1, w}, []int{h, 8 * n, w}
	return []way{
		{"einsum", turned, turned, turned, nil, func(q, k, v, _ tensor.Tensor) tensor.Tensor {
			s := tensor.Einsum("bqhd,bkhd->bhqk", q, k).Mul(1 / math.Sqrt(attendWidth))
			return tensor.Einsum("bhqk,bkhd->bqhd", s.Softmax(-1), v)
		}},
		{"per head", []int{h, n, w}, []int{h, n, w}, []int{h, n, w}, nil, func(q, k, v, _ tensor.Tensor) tensor.Tensor {
			return grad.Vmap(func(x [3]tensor.Tensor) tensor.Tensor { return byHand(x[0], x[1], x[2], unmasked) })([3]tensor.Tensor{q, k, v})
		}},
		{"grouped", heads, []int{b, 2, n, w}, []int{b, 2, n, w}, nil, func(q, k, v, _ tensor.Tensor) tensor.Tensor {
			repeat := func(x tensor.Tensor) tensor.Tensor { return x.Unsqueeze(2).Expand(b, 2, 2, n, w).Reshape(b, h, n, w) }
			return byHand(q, repeat(k), repeat(v), unmasked)
		}},
		{"with a bias", heads, heads, heads, []int{h, n, n}, func(q, k, v, bias tensor.Tensor) tensor.Tensor {
			return byHand(q, k, v, func(s tensor.Tensor) tensor.Tensor { return s.Add(bias) })
		}},
		{"with a mask of ints", heads, heads, heads, []int{n, n}, func(q, k, v, mask tensor.Tensor) tensor.Tensor {
			return byHand(q, k, v, func(s tensor.Tensor) tensor.Tensor {
				return tensor.Where(mask.Cast(tensor.Int32).Eq(1), s, math.Inf(-1))
			})
		}},
		{"Attention", heads, heads, heads, nil, withOptions(tensor.AttentionOptions{})},
		{"Attention, causal", heads, heads, heads, nil, withOptions(tensor.AttentionOptions{Causal: true})},
		{"Attention, a window", heads, heads, heads, nil, withOptions(tensor.AttentionOptions{Causal: true, Window: 100})},
		{"Attention, grouped", heads, []int{b, 2, n, w}, []int{b, 2, n, w}, nil, withOptions(tensor.AttentionOptions{Causal: true})},
		{"Attention, a bias", heads, heads, heads, []int{h, n, n}, withOptions(tensor.AttentionOptions{})},
		{"Attention, soft cap", heads, heads, heads, nil, withOptions(tensor.AttentionOptions{SoftCap: 30})},
		{"Attention, dropout", heads, heads, heads, nil, withOptions(tensor.AttentionOptions{Dropout: 0.1, RNG: tensor.NewRNG(1)})},
		{"Attention, ALiBi", heads, heads, heads, nil, withOptions(tensor.AttentionOptions{Causal: true, Mask: nn.ALiBi(h, n, n, 0)})},
		{"Attention, one query at an offset", one, many, many, []int{}, withOptions(tensor.AttentionOptions{Causal: true, Offset: "more"})},
		{"Attention, queries at an offset", []int{h, n, w}, many, many, []int{}, withOptions(tensor.AttentionOptions{Causal: true, Offset: "more"})},
	}
}

// TestAttentionPlans has a golden file with the kernels and loops of each way of writing attention: of the
// values, and of values and gradients.
func TestAttentionPlans(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many plans")
	}
	host := cpu.New(cpu.Options{})
	webgpu := schedule.Target{Family: schedule.Discrete, MaxThreads: 1024, SharedBytes: 48 << 10, SubgroupMin: 32, SubgroupMax: 32}
	cuda := webgpu
	cuda.Machine = ir.Machine{Bandwidth: 4.8e12, Adds: 33.5e12, Halves: 535e12, Launch: 3.5e-6}
	cuda.TileBytes, cuda.Matrices, cuda.SharedMatrices, cuda.Wide, cuda.Units = 227<<10, true, true, true, 132
	on := func(target schedule.Target, bindings int) *dryLooper {
		limits := target.LoopLimits()
		limits.AttentionBindings = bindings + 2
		return &dryLooper{dry: &dry{
			Device: host, limits: driver.Limits{Types: shader.DTypes, Bindings: bindings, Async: true, Machine: target.Machine}, budget: 64 << 30,
			compile: func(k *ir.Kernel) error { _, err := schedule.Compile(k, target); return err },
		}, loops: limits}
	}
	onHost := &dryLooper{dry: &dry{Device: host, limits: host.Limits(), budget: 64 << 30,
		compile: func(k *ir.Kernel) error { _, err := host.Compile(k); return err }}, loops: host.(driver.Looper).LoopLimits()}
	var text strings.Builder
	for _, w := range ways() {
		for _, d := range []struct {
			name string
			dry  *dryLooper
		}{{"cpu", onHost}, {"webgpu", on(webgpu, 8)}, {"cuda", on(cuda, 64)}} {
			c := &census{d.dry, map[string]int{}}
			dev := tensor.NewDevice(c)
			zeros := func(dims []int) tensor.Tensor { return tensor.New(make([]float32, graph.Len(dims)), dims...).To(dev) }
			x, more := [3]tensor.Tensor{zeros(w.q), zeros(w.k), zeros(w.v)}, tensor.Zeros().To(dev)
			if w.more != nil {
				more = zeros(w.more)
				if len(w.more) == 0 {
					more = more.Cast(tensor.Int32)
				}
			}
			if err := tensor.Eval(tree.To(x, dev), more); err != nil {
				t.Fatal(err)
			}
			f := func(x [3]tensor.Tensor) tensor.Tensor { return w.apply(x[0], x[1], x[2], more) }
			value := c.count(t, f(x))
			y, g := grad.ValueAndGrad(func(x [3]tensor.Tensor) tensor.Tensor { return f(x).Square().Sum() })(x)
			fmt.Fprintf(&text, "%-34s %-7s %-28s with gradients: %s\n", w.name, d.name, value, cmp.Or(c.count(t, []any{y, g}), "none"))
		}
	}
	goldentext.Check(t, "testdata/attention.txt", text.String())
}
