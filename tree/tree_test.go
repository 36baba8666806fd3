package tree_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

type linear struct{ Weight, Bias tensor.Tensor }

type model struct {
	In     linear
	Blocks []linear
	Count  tensor.Tensor `tensor:",state"`
	Tied   *linear
	Mask   tensor.Tensor `tensor:"-"`
	Rate   float64
}

func makeModel() model {
	in := &linear{Weight: tensor.New([]float32{1, 2, 3, 4}, 2, 2)}
	return model{
		In:     *in,
		Blocks: []linear{{tensor.New([]float32{5, 6}), tensor.Scalar(7)}},
		Count:  tensor.New([]int32{8}),
		Tied:   in,
		Mask:   tensor.Ones(9),
		Rate:   0.5,
	}
}

func text(v any) string {
	var b strings.Builder
	for name, t := range tree.All(v) {
		fmt.Fprintf(&b, "%s=%v ", name, strings.ReplaceAll(t.String(), "\n", ""))
	}
	return strings.TrimSpace(b.String())
}

func TestAll(t *testing.T) {
	want := "in.weight=[[1 2] [3 4]] blocks.0.weight=[5 6] blocks.0.bias=7 count=[8] tied.weight=[[1 2] [3 4]]"
	if got := text(makeModel()); got != want {
		t.Errorf("All gave %s, want %s", got, want)
	}
	for range tree.All(makeModel()) {
		break // stops without a word
	}
	for _, v := range []any{nil, 1, tensor.Tensor{}, (*model)(nil)} {
		if got := text(v); got != "" {
			t.Errorf("All(%v) gave %s", v, got)
		}
	}
}

func TestMap(t *testing.T) {
	m := makeModel()
	var names []string
	double := tree.Map(m, func(name string, x tensor.Tensor) tensor.Tensor {
		names = append(names, name)
		if name == "count" {
			return tensor.Tensor{}
		}
		return x.Mul(2)
	})
	want := "in.weight=[[2 4] [6 8]] blocks.0.weight=[10 12] blocks.0.bias=14 tied.weight=[[2 4] [6 8]]"
	if got := text(double); got != want {
		t.Errorf("Map gave %s, want %s", got, want)
	}
	if got := strings.Join(names, " "); got != "in.weight blocks.0.weight blocks.0.bias count tied.weight" {
		t.Errorf("Map met %s", got)
	}
	if double.Mask.Len() != 9 || double.Rate != 0.5 || double.Tied == m.Tied || &double.Blocks[0] == &m.Blocks[0] {
		t.Errorf("Map carried %v, %v; pointers %p of %p", double.Mask, double.Rate, double.Tied, m.Tied)
	}
	var v any = map[string]tensor.Tensor{"b": tensor.Scalar(1), "a": tensor.Scalar(2)}
	v = tree.Map(v, func(_ string, x tensor.Tensor) tensor.Tensor { return x.Neg() })
	if got := text(v); got != "a=-2 b=-1" {
		t.Errorf("Map of an any gave %s", got)
	}
}

func TestZip(t *testing.T) {
	a, b := makeModel(), makeModel()
	b.Blocks, b.Tied, b.Rate = nil, nil, 0.25
	sum := tree.Zip(a, b, func(name string, x, y tensor.Tensor) tensor.Tensor {
		if !y.IsValid() {
			return x.Neg()
		}
		return x.Add(y)
	})
	want := "in.weight=[[2 4] [6 8]] blocks.0.weight=[-5 -6] blocks.0.bias=-7 count=[16] tied.weight=[[-1 -2] [-3 -4]]"
	if got := text(sum); got != want || sum.Rate != 0.5 {
		t.Errorf("Zip gave %s, %v, want %s", got, sum.Rate, want)
	}
	a.Blocks[0].Bias = tensor.Tensor{}
	if got := tree.Zip(a, makeModel(), func(_ string, x, y tensor.Tensor) tensor.Tensor { return y }); got.Blocks[0].Bias.IsValid() {
		t.Errorf("Zip of an absent tensor gave %v", got.Blocks[0].Bias)
	}
}

func TestCast(t *testing.T) {
	half := tree.Cast(makeModel(), tensor.Float16)
	if half.In.Weight.DType() != tensor.Float16 || half.Count.DType() != tensor.Int32 || half.In.Bias.IsValid() {
		t.Errorf("Cast gave %v and %v", half.In.Weight.DType(), half.Count.DType())
	}
}

func TestTo(t *testing.T) {
	m := tree.To(makeModel(), tensor.CPU())
	for name, x := range tree.All(m) {
		if x.Device() != tensor.CPU() {
			t.Errorf("To left %s on %v", name, x.Device())
		}
	}
}

func TestRavel(t *testing.T) {
	m := makeModel()
	m.Count = tensor.Tensor{}
	flat, back := tree.Ravel(m)
	if got := flat.String(); got != "[1 2 3 4 5 6 7 1 2 3 4]" {
		t.Errorf("Ravel gave %s", got)
	}
	want := "in.weight=[[10 20] [30 40]] blocks.0.weight=[50 60] blocks.0.bias=70 tied.weight=[[10 20] [30 40]]"
	if got := text(back(flat.Mul(10))); got != want {
		t.Errorf("Ravel and back gave %s, want %s", got, want)
	}
	none, back2 := tree.Ravel(linear{})
	if got := fmt.Sprint(none, none.DType(), text(back2(none))); got != "[] (shape [0]) float32 " && got != "[] (shape [0]) float32" {
		t.Errorf("Ravel of nothing gave %q", got)
	}
}

func TestSize(t *testing.T) {
	if n := tree.Size(makeModel()); n != 12 {
		t.Errorf("Size = %d, want 12", n)
	}
}

// A pointer that leads back to where it was met is met twice, and so one
// subtree that the result shares.
func TestRing(t *testing.T) {
	type node struct {
		W    tensor.Tensor
		Next *node
	}
	a := &node{W: tensor.Ones(2)}
	a.Next = &node{W: tensor.Ones(3), Next: a}
	if n := tree.Size(a); n != 5 {
		t.Errorf("Size of a ring = %d, want 5", n)
	}
	b := tree.Map(a, func(_ string, x tensor.Tensor) tensor.Tensor { return x.Neg() })
	if got := text(b); got != "w=[-1 -1] next.w=[-1 -1 -1]" || b.Next.Next != b || b == a {
		t.Errorf("Map of a ring gave %s, closed: %v", got, b.Next.Next == b)
	}
}

func TestMisuse(t *testing.T) {
	loop, ring := make([]any, 1), map[string]any{}
	loop[0], ring["next"] = loop, ring
	_, back := tree.Ravel(linear{Weight: tensor.Ones(3)})
	for _, tt := range []struct {
		f    func()
		want string
	}{
		{func() { tree.Size(struct{ w tensor.Tensor }{}) },
			"tree.Size of a struct { w tensor.Tensor }: struct { w tensor.Tensor }: unexported field w holds tensor.Tensor"},
		{func() {
			id := func(_ string, x, _ tensor.Tensor) tensor.Tensor { return x }
			tree.Zip([]tensor.Tensor{}, []tensor.Tensor{tensor.Ones(1)}, id)
		}, `tree.Zip of a []tensor.Tensor: "0" is in the second tree but not in the first`},
		{func() { tree.Size(loop) }, "tree.Size of a []interface {}: nested more than 10000 deep: does it contain itself?"},
		{func() { tree.Size(ring) }, "tree.Size of a map[string]interface {}: nested more than 10000 deep: does it contain itself?"},
		{func() { tree.Ravel(makeModel()) }, `"count" is of type int32, tensors before it of float32: Cast to one type`},
		{func() { back(tensor.Ones(4)) }, "tree.Ravel of a tree_test.linear: going back needs shape [3], not [4]"},
	} {
		err := tensor.Try(tt.f)
		var e *tensor.Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "tree_test.go:") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func ExampleMap() {
	type Linear struct{ Weight, Bias tensor.Tensor }
	m := []Linear{{tensor.Ones(2, 2), tensor.Ones(2)}, {Weight: tensor.Ones(1, 2)}}
	frozen := tree.Map(m, func(name string, t tensor.Tensor) tensor.Tensor {
		if strings.HasPrefix(name, "0.") {
			return tensor.Tensor{} // absent
		}
		return t.Mul(3)
	})
	for name, t := range tree.All(frozen) {
		fmt.Println(name, t)
	}
	// Output: 1.weight [[3 3]]
}

func ExampleZip() {
	model := map[string]tensor.Tensor{"w": tensor.Scalar(3), "b": tensor.Scalar(1)}
	gradient := map[string]tensor.Tensor{"w": tensor.Scalar(2)}
	next := tree.Zip(model, gradient, func(_ string, p, g tensor.Tensor) tensor.Tensor {
		if !g.IsValid() {
			return p
		}
		return p.Sub(g.Mul(0.5))
	})
	fmt.Println(next["w"], next["b"])
	// Output: 2 1
}

func ExampleRavel() {
	type Point struct{ X, Y tensor.Tensor }
	flat, back := tree.Ravel(Point{tensor.New([]float32{1, 2}), tensor.Scalar(3)})
	fmt.Println(flat, back(flat.Mul(2)))
	// Output: [1 2 3] {[2 4] 6}
}
