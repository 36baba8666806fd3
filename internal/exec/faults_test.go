package exec_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// Each result of a plan fails by a bad index that it depends on, in the plan or in one before
// whose reports may be unread; the others do not fail.
func TestEachFailsByItsOwnIndex(t *testing.T) {
	for name, drv := range map[string]driver.Device{"at once": cpu.New(cpu.Options{}), "later": ahead{cpu.New(cpu.Options{})}} {
		d := exec.New(drv)
		x := graph.Unary(ir.Exp, floats(0, 0, 0))
		take := func(index ...int32) *graph.Node { return graph.Gather(x, ints(index...), 0) }
		sum := func(n *graph.Node) *graph.Node { return graph.Reduce(ir.Sum, n, []int{0}) }
		neg := func(n *graph.Node) *graph.Node { return graph.Unary(ir.Neg, n) }
		two, three, good := take(0, 7), take(0, 0, 9), take(0, 1, 2)
		both := graph.Binary(ir.Add, good, take(3, 3, 3)) // one kernel checks both
		type result struct {
			name string
			node *graph.Node
			bad  int64 // the bad index; 0 without one
		}
		plans := [][]result{
			{{"x", x, 0}, {"two", two, 7}, {"-two", neg(two), 7}, {"sum(three)", sum(three), 9}, {"three", three, 9}, {"-x", neg(x), 0}, {"good", good, 0}, {"sum(two)+sum(three)", graph.Binary(ir.Add, sum(two), sum(three)), 7}},
			{{"both", both, 3}, {"-sum(good)", neg(sum(good)), 0}},
			{{"exp(x)", graph.Unary(ir.Exp, x), 0}, {"exp(three)", graph.Unary(ir.Exp, three), 9}, {"a scatter", graph.Scatter(ir.Add, x, ints(8), floats(1), 0), 8}},
		}
		for _, plan := range plans {
			var roots []*graph.Node
			for _, r := range plan {
				roots = append(roots, r.node)
			}
			exec.Eval(d, roots) // failures are checked below
		}
		for _, r := range slices.Concat(plans...) {
			_, err := exec.Read(d, r.node)
			var index *storage.IndexError
			if bad := errors.As(err, &index); bad != (r.bad != 0) || bad && index.Index != r.bad {
				t.Errorf("%s, %s: error %v, want index %d (0 for none)", name, r.name, err, r.bad)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// On an asynchronous device, all results of a failed transaction have the old elements.
func TestTransactionFallsBack(t *testing.T) {
	d := exec.New(ahead{cpu.New(cpu.Options{})})
	defer d.Close()
	flipped := graph.Flip(floats(1, 2, 3), []int{0})
	read(t, d, flipped)
	bad := graph.Reduce(ir.Sum, graph.Gather(floats(1, 2, 3), ints(0, 7), 0), []int{0})
	plus := func(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Add, x, graph.Expand(y, x.Shape)) }
	type value struct {
		name     string
		old, new *graph.Node
	}
	old := func() *graph.Node { return floats(1, 2, 3) }
	a, b, c := old(), old(), old()
	values := []value{
		{"a sum", a, plus(a, bad)},
		{"one that reads a result", b, graph.Unary(ir.Exp, plus(a, bad))},
		{"a new value", old(), graph.Expand(bad, []int{3})},
		{"an equal one", old(), graph.Expand(bad, []int{3})},
		{"a scatter", c, graph.Scatter(ir.Add, graph.Unary(ir.Exp, c), ints(2), bad, 0)},
		{"parts", old(), graph.Cat(0, []*graph.Node{bad, floats(4, 5)})},
		{"one by index", c, graph.Binary(ir.Mul, c, graph.Gather(old(), ints(2, 1, 0), 0))},
		{"one by index and a result", b, plus(graph.Gather(b, ints(2, 1, 0), 0), graph.Reduce(ir.Sum, plus(a, bad), []int{0}))},
		{"a flipped one", flipped, plus(flipped, bad)},
		{"another leaf", old(), graph.Flip(old(), []int{0})},
		{"a constant", old(), graph.Fill(ir.Float32, 7, []int{3})},
		{"an old one", b, b},
		{"no elements", floats(), graph.Unary(ir.Exp, floats())},
	}
	var j storage.Journal
	var roots, olds []*graph.Node
	for _, v := range values {
		roots, olds = append(roots, v.new), append(olds, v.old)
	}
	if err := exec.Step(d, &j, false, roots, olds); err != nil {
		t.Fatalf("Step: %v, want that it is told later", err)
	}
	for _, v := range values {
		if got, want := read(t, d, v.new), read(t, d, v.old); !equal(got, want) {
			t.Errorf("%s: %v, want %v", v.name, got, want)
		}
	}
	var index *storage.IndexError
	if n, err := j.Failed(); n != 1 || !errors.As(err, &index) || index.Index != 7 {
		t.Errorf("%d transactions failed with %v, want one with index 7", n, err)
	}
	if n, err := j.Failed(); n != 0 || err != nil {
		t.Errorf("then %d failed with %v, want none", n, err)
	}
}

// panicking is a device whose schedules lack a rule.
type panicking struct{ driver.Device }

func (panicking) Compile(*ir.Kernel) (driver.Program, error) { panic("no rule") }

// A panic of Compile leaves the device usable.
func TestCompilePanics(t *testing.T) {
	d := exec.New(panicking{cpu.New(cpu.Options{})})
	for range 2 {
		func() {
			defer func() {
				if r := recover(); r != "no rule" {
					t.Errorf("panic %v, want no rule", r)
				}
			}()
			t.Error(exec.Eval(d, []*graph.Node{graph.Unary(ir.Neg, floats(1))}))
		}()
	}
}
