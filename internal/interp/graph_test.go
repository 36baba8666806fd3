package interp

import (
	"errors"
	"reflect"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A store holds the elements of a leaf.
type store []ir.Number

func (store) Device() graph.Device { return nil }

func leaf(n *graph.Node) (*Array, error) {
	return &Array{n.DType, n.Shape, n.Value().Store.(store)}, nil
}

func tensor(d ir.DType, x []float64, shape ...int) *graph.Node {
	s := make(store, len(x))
	for i, v := range x {
		s[i] = ir.Float(d, v)
	}
	return graph.Buffer(d, shape, &graph.Value{Store: s})
}

// count returns a tensor of 1, 2, 3 …
func count(shape ...int) *graph.Node {
	x := make([]float64, graph.Len(shape))
	for i := range x {
		x[i] = float64(i + 1)
	}
	return tensor(ir.Float32, x, shape...)
}

func values(a *Array) []float64 {
	x := make([]float64, len(a.Elems))
	for i, v := range a.Elems {
		x[i] = v.Float64(a.DType)
	}
	return x
}

func TestEval(t *testing.T) {
	ints := func(x ...float64) *graph.Node { return tensor(ir.Int32, x, len(x)) }
	for _, c := range []struct {
		name string
		node *graph.Node
		want []float64
	}{
		{"Const", graph.Fill(ir.Float16, 0.1, []int{2}), []float64{0.0999755859375, 0.0999755859375}},
		{"Scalar", graph.Scalar(ir.Int32, 7, nil), []float64{7}},
		{"Iota 0", graph.Iota([]int{2, 3}, 0), []float64{0, 0, 0, 1, 1, 1}},
		{"Iota 1", graph.Iota([]int{2, 3}, 1), []float64{0, 1, 2, 0, 1, 2}},
		{"Buffer", count(2), []float64{1, 2}},
		{"Argument", graph.Argument(count(2), new(graph.Scope)), []float64{1, 2}},
		{"Add", graph.Binary(ir.Add, count(2), count(2)), []float64{2, 4}},
		{"Cast", graph.Cast(tensor(ir.Float32, []float64{1.5, -1.5}, 2), ir.Int32), []float64{1, -1}},
		{"Where", graph.Where(tensor(ir.Bool, []float64{1, 0}, 2), count(2), graph.Fill(ir.Float32, 9, []int{2})), []float64{1, 9}},
		{"Sum 0", graph.Reduce(ir.Sum, count(2, 3), []int{0}), []float64{5, 7, 9}},
		{"Sum 1", graph.Reduce(ir.Sum, count(2, 3), []int{1}), []float64{6, 15}},
		{"Sum 0 2", graph.Reduce(ir.Sum, count(2, 3, 2), []int{0, 2}), []float64{18, 26, 34}},
		{"Sum of nothing", graph.Reduce(ir.Sum, count(2, 0), []int{1}), []float64{0, 0}},
		{"Prod", graph.Reduce(ir.Prod, count(2, 2), []int{1}), []float64{2, 12}},
		{"ArgMax", graph.Reduce(ir.ArgMax, tensor(ir.Int32, []float64{1, 5, 2, 7, 5, 2}, 2, 3), []int{0}), []float64{1, 0, 0}},
		{"Reshape", graph.Reshape(count(2, 3), []int{3, 2}), []float64{1, 2, 3, 4, 5, 6}},
		{"Permute", graph.Permute(count(2, 3), []int{1, 0}), []float64{1, 4, 2, 5, 3, 6}},
		{"Permute 3", graph.Permute(count(1, 2, 3), []int{2, 0, 1}), []float64{1, 4, 2, 5, 3, 6}},
		{"Expand", graph.Expand(count(2, 1), []int{2, 3}), []float64{1, 1, 1, 2, 2, 2}},
		{"Expand to nothing", graph.Expand(count(2, 1), []int{2, 0}), []float64{}},
		{"Pad", graph.Pad(count(2), ir.Float(ir.Float32, 9), []graph.Padding{{Before: 1, After: 2, Interior: 1}}), []float64{9, 1, 9, 2, 9, 9}},
		{"Pad nothing", graph.Pad(count(0), ir.Float(ir.Float32, 9), []graph.Padding{{Before: 1, After: 1, Interior: 1}}), []float64{9, 9}},
		{"Crop", graph.Crop(count(7), []graph.Span{{Start: 1, Step: 2, Len: 3}}), []float64{2, 4, 6}},
		{"Flip", graph.Flip(count(2, 3), []int{1}), []float64{3, 2, 1, 6, 5, 4}},
		{"Flip both", graph.Flip(count(2, 3), []int{0, 1}), []float64{6, 5, 4, 3, 2, 1}},
		// Windows of two, two apart, dilated by 3.
		{"Window", graph.Window(graph.Expand(count(6, 1), []int{6, 2}), 0, 1, 2, 3, 2), []float64{1, 4, 3, 6}},
		{"Unwindow", graph.Unwindow(count(2, 2), 0, 1, 2, 3, 6), []float64{1, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 4}},
		{"Cat", graph.Cat(1, []*graph.Node{count(2, 1), count(2, 0), count(2, 2)}), []float64{1, 1, 2, 2, 3, 4}},
		{"Gather", graph.Gather(count(2, 3), tensor(ir.Int32, []float64{2, 0, 1, 1}, 2, 2), 1), []float64{3, 1, 5, 5}},
		{"Gather 0", graph.Gather(count(2, 3), tensor(ir.Uint32, []float64{1, 0, 1}, 1, 3), 0), []float64{4, 2, 6}},
		{"Scatter Add", graph.Scatter(ir.Add, count(3), ints(0, 2, 0), count(3), 0), []float64{1 + 1 + 3, 2, 3 + 2}},
		{"Scatter Mul", graph.Scatter(ir.Mul, count(3), ints(0, 2, 0), count(3), 0), []float64{1 * 1 * 3, 2, 3 * 2}},
		{"Scatter Max", graph.Scatter(ir.Max, count(3), ints(0, 2, 0), count(3), 0), []float64{3, 2, 3}},
		{"Scatter Min", graph.Scatter(ir.Min, count(3), ints(0, 2, 0), count(3), 0), []float64{1, 2, 2}},
	} {
		got, err := Eval([]*graph.Node{c.node}, leaf)
		if err != nil {
			t.Errorf("Eval(%s): %v", c.name, err)
			continue
		}
		if x := values(got[0]); !reflect.DeepEqual(x, c.want) || got[0].DType != c.node.DType || !reflect.DeepEqual(got[0].Shape, c.node.Shape) {
			t.Errorf("Eval(%s) = %v %v %v, want %v %v %v", c.name, got[0].DType, got[0].Shape, x, c.node.DType, c.node.Shape, c.want)
		}
	}
}

func TestBadIndex(t *testing.T) {
	bad := tensor(ir.Int32, []float64{1, -1, 3}, 3)
	roots := []*graph.Node{
		graph.Gather(count(3), bad, 0),
		graph.Scatter(ir.Add, count(3), bad, count(3), 0),
	}
	got, err := Eval(roots, leaf)
	var e *IndexError
	if !errors.As(err, &e) || *e != (IndexError{-1, 3, 0}) {
		t.Fatalf("Eval: error %v, want index -1 out of range", err)
	}
	for i, want := range [][]float64{{2, 0, 0}, {1, 3, 3}} {
		if x := values(got[i]); !reflect.DeepEqual(x, want) {
			t.Errorf("Eval(%v) = %v, want %v", roots[i].Op, x, want)
		}
	}
}

func TestEvalWrongLeaf(t *testing.T) {
	short := func(n *graph.Node) (*Array, error) { return &Array{n.DType, n.Shape, nil}, nil }
	if _, err := Eval([]*graph.Node{count(3)}, short); err == nil {
		t.Error("Eval of a leaf without elements gave no error")
	}
	fails := errors.New("gone")
	if _, err := Eval([]*graph.Node{count(3)}, func(*graph.Node) (*Array, error) { return nil, fails }); err != fails {
		t.Errorf("Eval of a failing leaf: error %v, want %v", err, fails)
	}
}

// A long chain does not overflow the stack, and shared operands are evaluated once.
func TestEvalDeep(t *testing.T) {
	x := graph.Fill(ir.Uint32, 1, nil)
	depth := 1_000_000
	if testing.Short() {
		depth = 200_000
	}
	for range depth {
		x = graph.Binary(ir.Add, x, x)
	}
	y := graph.Fill(ir.Uint32, 1, nil)
	for range 31 {
		y = graph.Binary(ir.Add, y, y)
	}
	got, err := Eval([]*graph.Node{x, y}, leaf)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Elems[0] != 0 || got[1].Elems[0] != 1<<31 {
		t.Errorf("Eval of doublings = %d, %d, want 0, %d", got[0].Elems[0], got[1].Elems[0], 1<<31)
	}
}

// TestRecurrence adds up and stacks, backward.
func TestRecurrence(t *testing.T) {
	s := &graph.Scope{PlaceholdersOf: "grad.Scan"}
	sum, x := count(2), count(3, 2)
	c, in := graph.Placeholder(sum, 0, s), graph.Placeholder(x, 1, s)
	next := graph.Binary(ir.Add, c, in)
	r := graph.NewRecurrence(&graph.Recurrence{Steps: 3, Reverse: true, Carries: 1, Inputs: 1, Args: []*graph.Node{c, in}},
		[]*graph.Node{next, next, graph.Binary(ir.Mul, c, in)})
	all := graph.Recur(r, sum, x)
	got, err := Eval([]*graph.Node{graph.Pick(all, 0), graph.Pick(all, 1), graph.Pick(all, 2)}, leaf)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{10, 14}, {10, 14, 9, 12, 6, 8}, {9, 24, 18, 32, 5, 12}} {
		if !reflect.DeepEqual(values(got[i]), want) {
			t.Errorf("result %d = %v, want %v", i, values(got[i]), want)
		}
	}
}
