package exec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A stepsCase is a graph of two elements x and y and a number k that takes several steps.
type stepsCase struct {
	name  string
	f     func(x, y, k *graph.Node) []*graph.Node
	calls int // of functions on the host in a run
}

// scan is a recurrence of one carry, and one output, of steps over an input.
func scan(steps int, reverse bool, init, in *graph.Node, body func(c, x *graph.Node) (next, out *graph.Node)) []*graph.Node {
	scope := &graph.Scope{PlaceholdersOf: "scan"}
	c, x := graph.Placeholder(init, 0, scope), graph.Placeholder(in, 1, scope)
	next, out := body(c, x)
	r := graph.NewRecurrence(&graph.Recurrence{Steps: steps, Reverse: reverse, Carries: 1, Inputs: 1, Args: []*graph.Node{c, x}}, []*graph.Node{next, out})
	n := graph.Recur(r, init, in)
	return []*graph.Node{graph.Pick(n, 0), graph.Pick(n, 1)}
}

// rows repeats x.
func rows(n int, x *graph.Node) *graph.Node {
	return graph.Binary(ir.Mul, graph.Expand(graph.Reshape(x, append([]int{1}, x.Shape...)), append([]int{n}, x.Shape...)), scalar(1.5, append([]int{n}, x.Shape...)))
}

func stepsCases(d, other *exec.Device, calls *int) []stepsCase {
	var fails error
	add := func(a, b *graph.Node) *graph.Node { return graph.Binary(ir.Add, a, b) }
	mul := func(a, b *graph.Node) *graph.Node { return graph.Binary(ir.Mul, a, b) }
	turn := func(x *graph.Node) *graph.Node { return reversed(x, calls, &fails) }
	on := graph.ToDevice
	return []stepsCase{
		{"a root that is computed", func(x, y, k *graph.Node) []*graph.Node { return []*graph.Node{x, add(x, y)} }, 0},
		{"two devices", func(x, y, k *graph.Node) []*graph.Node {
			return []*graph.Node{mul(on(x, d), on(k, d)), graph.Unary(ir.Neg, on(y, other))}
		}, 0},
		{"an operand of another device", func(x, y, k *graph.Node) []*graph.Node {
			z := graph.Unary(ir.Sin, mul(on(x, other), on(k, other)))
			return []*graph.Node{add(on(z, d), on(y, d)), graph.Unary(ir.Neg, z)}
		}, 0},
		{"to another device and back", func(x, y, k *graph.Node) []*graph.Node {
			z := graph.Unary(ir.Sin, on(x, d))
			there := mul(on(z, other), on(y, other))
			return []*graph.Node{add(on(there, d), z)}
		}, 0},
		{"a function on the host", func(x, y, k *graph.Node) []*graph.Node { return []*graph.Node{turn(x)} }, 1},
		{"functions of functions", func(x, y, k *graph.Node) []*graph.Node {
			a := turn(mul(x, k))
			return []*graph.Node{add(turn(add(a, y)), a), a}
		}, 2},
		{"a function on another device", func(x, y, k *graph.Node) []*graph.Node {
			return []*graph.Node{add(on(turn(graph.Unary(ir.Sin, on(x, other))), d), on(y, d))}
		}, 1},
		{"a constant function", func(x, y, k *graph.Node) []*graph.Node {
			return []*graph.Node{add(turn(graph.Unary(ir.Neg, floats(1, 2))), x)}
		}, 0},
		{"a constant function that is a root", func(x, y, k *graph.Node) []*graph.Node {
			c := turn(graph.Unary(ir.Neg, floats(1, 2)))
			return []*graph.Node{c, add(c, x), turn(c)}
		}, 0},
		{"a function of a number", func(x, y, k *graph.Node) []*graph.Node { return []*graph.Node{add(turn(k), x)} }, 1},
		{"a function of a number, in the body", func(x, y, k *graph.Node) []*graph.Node {
			return scan(3, false, x, rows(3, y), func(c, x *graph.Node) (_, _ *graph.Node) { return add(mul(turn(k), c), x), c })
		}, 3},
		{"roots that later roots read", func(x, y, k *graph.Node) []*graph.Node {
			a := turn(graph.Unary(ir.Sin, x))
			b := scan(2, false, a, rows(2, a), func(c, x *graph.Node) (_, _ *graph.Node) { return add(c, x), x })
			return []*graph.Node{b[1], a, b[0], graph.Unary(ir.Sin, x), turn(b[0])}
		}, 2},
		{"a recurrence", func(x, y, k *graph.Node) []*graph.Node {
			return scan(3, false, x, rows(3, y), func(c, x *graph.Node) (_, _ *graph.Node) { return add(c, x), mul(c, x) })
		}, 0},
		{"a recurrence of what is stored", func(x, y, k *graph.Node) []*graph.Node {
			z := graph.Unary(ir.Sin, mul(x, k))
			return []*graph.Node{add(z, scan(3, true, z, rows(3, z), func(c, x *graph.Node) (_, _ *graph.Node) { return mul(c, x), c })[0])}
		}, 0},
		{"the host in the body", func(x, y, k *graph.Node) []*graph.Node {
			return scan(3, true, x, rows(3, y), func(c, x *graph.Node) (_, _ *graph.Node) { c = add(turn(c), x); return c, turn(x) })
		}, 6},
		{"a number in the body", func(x, y, k *graph.Node) []*graph.Node {
			return scan(3, false, x, rows(3, y), func(c, x *graph.Node) (_, _ *graph.Node) { return add(mul(c, k), x), c })
		}, 0},
		{"a number and the host in the body", func(x, y, k *graph.Node) []*graph.Node {
			return scan(3, false, x, rows(3, y), func(c, x *graph.Node) (_, _ *graph.Node) { return add(turn(mul(c, k)), x), c })
		}, 3},
		{"an argument in the body", func(x, y, k *graph.Node) []*graph.Node {
			return scan(3, false, x, rows(3, y), func(c, x *graph.Node) (_, _ *graph.Node) { return add(turn(mul(c, y)), x), mul(c, y) })
		}, 3},
		{"a recurrence in the body", func(x, y, k *graph.Node) []*graph.Node {
			return scan(2, false, x, rows(2, y), func(c, x *graph.Node) (_, _ *graph.Node) {
				inner := scan(3, true, c, rows(3, x), func(c, z *graph.Node) (_, _ *graph.Node) { return add(turn(mul(c, k)), mul(z, y)), add(c, z) })
				return inner[0], inner[1]
			})
		}, 6},
		{"another device in the body", func(x, y, k *graph.Node) []*graph.Node {
			return scan(3, false, on(x, d), on(rows(3, y), d), func(c, x *graph.Node) (_, _ *graph.Node) {
				return add(on(graph.Unary(ir.Sin, on(c, other)), d), x), c
			})
		}, 0},
		{"results of a body that are alike", func(x, y, k *graph.Node) []*graph.Node {
			return scan(3, false, x, rows(3, y), func(c, x *graph.Node) (_, _ *graph.Node) { return add(c, scalar(0, []int{2})), c })
		}, 0},
		{"no steps", func(x, y, k *graph.Node) []*graph.Node {
			r := scan(0, false, mul(x, k), rows(0, y), func(c, x *graph.Node) (_, _ *graph.Node) { return add(c, x), c })
			return []*graph.Node{add(r[0], y), r[1]}
		}, 0},
		{"one step", func(x, y, k *graph.Node) []*graph.Node {
			return scan(1, false, x, rows(1, y), func(c, x *graph.Node) (_, _ *graph.Node) { return turn(x), c })
		}, 1},
	}
}

// A Recording of several steps equals Eval for other arguments, and repeats the trace.
func TestRecordSteps(t *testing.T) {
	d, other := newDevice(), newDevice()
	defer d.Close()
	defer other.Close()
	calls := 0
	for _, c := range stepsCases(d, other, &calls) {
		t.Run(c.name, func(t *testing.T) {
			tr, again := newTrace(c.f), newTrace(c.f)
			r := tr.record(t, d)
			if !r.Repeats(again.args, again.numbers, again.roots, nil) {
				t.Error("another trace of the graph is not the Recording's")
			}
			for run := range 3 {
				v := float32(run)
				args := []*graph.Node{floats(1+v, 2-v), floats(0.5, v)}
				calls = 0
				got, err := r.Run(nil, args, numbers(float64(run)))
				if err != nil {
					t.Fatal(err)
				}
				if calls != c.calls {
					t.Errorf("a run has %d calls of functions, want %d", calls, c.calls)
				}
				want := c.f(args[0], args[1], scalar(float64(run), []int{2}))
				if err := exec.Eval(d, want); err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if g, w := read(t, d, got[i]), read(t, d, want[i]); !equal(g, w) || len(g) != len(w) {
						t.Errorf("run %d: result %d is %v, want %v", run, i, g, w)
					}
					if !capture.LayoutOf(want[i]).IsOf(got[i]) {
						t.Errorf("result %d has the layout %+v, want %+v", i, capture.LayoutOf(got[i]), capture.LayoutOf(want[i]))
					}
				}
			}
		})
	}
}

// Traces of steps that differ do not repeat a Recording.
func TestOtherSteps(t *testing.T) {
	d, other := newDevice(), newDevice()
	defer d.Close()
	defer other.Close()
	var calls int
	var fails error
	add := func(a, b *graph.Node) *graph.Node { return graph.Binary(ir.Add, a, b) }
	keyed := func(key any) func(x, y, k *graph.Node) []*graph.Node {
		return func(x, y, k *graph.Node) []*graph.Node {
			return []*graph.Node{graph.HostCall("copy", 2, key, func(out graph.HostArray, in []graph.HostArray) error { copy(out.Data, in[0].Data); return nil }, x)}
		}
	}
	scanned := func(steps int, reverse bool, factor float64) func(x, y, k *graph.Node) []*graph.Node {
		return func(x, y, k *graph.Node) []*graph.Node {
			return scan(steps, reverse, x, rows(3, y), func(c, x *graph.Node) (_, _ *graph.Node) {
				c = graph.Binary(ir.Mul, reversed(add(c, x), &calls, &fails), scalar(factor, []int{2}))
				return c, c
			})
		}
	}
	of := func(i int) func(x, y, k *graph.Node) []*graph.Node {
		return func(x, y, k *graph.Node) []*graph.Node {
			return []*graph.Node{add(reversed([]*graph.Node{x, y}[i], &calls, &fails), x)}
		}
	}
	there := func(d *exec.Device) func(x, y, k *graph.Node) []*graph.Node {
		return func(x, y, k *graph.Node) []*graph.Node {
			return []*graph.Node{graph.Unary(ir.Neg, graph.ToDevice(x, d)), graph.Unary(ir.Neg, y)}
		}
	}
	base := scanned(3, false, 1)
	for _, c := range []struct {
		name          string
		first, second func(x, y, k *graph.Node) []*graph.Node
		want          bool
	}{
		{"the same key", keyed(1), keyed(1), true},
		{"another key", keyed(1), keyed(2), false},
		{"no key", keyed(nil), keyed(nil), false},
		{"another argument", of(0), of(1), false},
		{"another number of the body", base, scanned(3, false, 2), false},
		{"another direction", base, scanned(3, true, 1), false},
		{"fewer steps", base, func(x, y, k *graph.Node) []*graph.Node { return scanned(2, false, 1)(x, y, k)[:1] }, false},
		{"another device", there(other), there(d), false},
		{"a function less", of(0), func(x, y, k *graph.Node) []*graph.Node { return []*graph.Node{add(y, x)} }, false},
	} {
		r, again := newTrace(c.first).record(t, d), newTrace(c.second)
		if got := r.Repeats(again.args, again.numbers, again.roots, nil); got != c.want {
			t.Errorf("%s: Repeats = %v, want %v", c.name, got, c.want)
		}
	}
}

// A function that fails fails the run, and no later one.
func TestRecordedHostCallFails(t *testing.T) {
	d := newDevice()
	defer d.Close()
	calls, bad := 0, errors.New("the elements are bad")
	var fails error
	tr := newTrace(func(x, y, k *graph.Node) []*graph.Node {
		return []*graph.Node{graph.Binary(ir.Add, reversed(graph.Unary(ir.Neg, x), &calls, &fails), y)}
	})
	r := tr.record(t, d)
	for _, fails = range []error{nil, bad, nil} {
		out, err := r.Run(nil, []*graph.Node{floats(1, 2), floats(10, 10)}, numbers(0))
		if host := (*exec.HostError)(nil); fails != nil && (!errors.As(err, &host) || !errors.Is(err, bad)) {
			t.Errorf("Run = %v, want an error of the function", err)
		} else if fails == nil && (err != nil || !equal(read(t, d, out[0]), []float32{8, 9})) {
			t.Errorf("Run = %v, %v", out, err)
		}
	}
}

// A value that the device lacks the type of is cast on the host in each run.
func TestRecordedCast(t *testing.T) {
	d := exec.New(lacking{cpu.New(cpu.Options{}), ir.Float64})
	defer d.Close()
	x := capture.Layout{DType: ir.Float64, Shape: []int{2}, Strides: []int{1}}.Placeholder()
	roots := []*graph.Node{graph.Unary(ir.Neg, graph.Cast(x, ir.Float32))}
	r, err := exec.Record(d, []*graph.Node{x}, nil, roots, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for run := range 3 {
		var data []byte
		for _, v := range []float64{1.5, float64(run)} {
			data = ir.Float(ir.Float64, v).Append(data, ir.Float64)
		}
		out, err := r.Run(nil, []*graph.Node{graph.Buffer(ir.Float64, []int{2}, &graph.Value{Store: storage.FromHost(data), Strides: []int{1}})}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, d, out[0]); !equal(got, []float32{-1.5, -float32(run)}) {
			t.Errorf("run %d: %v", run, got)
		}
	}
}

// A plan stores results for another device, and for a later plan of its own device.
func TestPlansOfDevicesShare(t *testing.T) {
	d, other := newDevice(), newDevice()
	defer d.Close()
	defer other.Close()
	z := graph.Unary(ir.Sin, graph.ToDevice(floats(1, 2), d))
	there := graph.Unary(ir.Exp, graph.ToDevice(z, other))
	back := graph.Binary(ir.Mul, graph.ToDevice(there, d), graph.Unary(ir.Neg, z))
	text := exec.Explain(d, []*graph.Node{back})
	if strings.Count(text, "1 kernel, ") != 3 || strings.Count(text, "Sin") != 1 {
		t.Errorf("want three plans that compute Sin once:\n%s", text)
	}
}
