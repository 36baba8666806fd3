package simplify

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

const (
	f32 = ir.Float32
	i32 = ir.Int32
)

// leaf is the i-th stored tensor.
func leaf(d ir.DType, i int, dims ...int) *graph.Node {
	return graph.Leaf(d, dims, i, append([]int{1}, shape.RowMajor(dims)...))
}

func fill(v float64, dims ...int) *graph.Node { return graph.Fill(f32, v, dims) }

func number(i int, dims ...int) *graph.Node { return graph.Param(f32, dims, i) }

// text writes a node as an expression: leaves as a, b and so on, numbers as
// s0, s1; ops that change the shape with their attributes and shape.
func text(n *graph.Node) string {
	switch n.Op {
	case ir.Buffer:
		return string(rune('a' + n.Num))
	case ir.Scalar:
		return fmt.Sprintf("s%d%v", n.Ints[0], n.Shape)
	case ir.Const:
		return n.Num.Text(n.DType) + fmt.Sprint(n.Shape)
	}
	var src []string
	for _, s := range n.Src().All() {
		src = append(src, text(s))
	}
	name := n.Op.String()
	if n.Op == ir.Cast {
		name = n.DType.String()
	}
	if n.Op.Class() != ir.Elementwise {
		name += fmt.Sprintf("%v%v", n.Ints, n.Shape)
	}
	return name + "(" + strings.Join(src, ", ") + ")"
}

// elems gives leaves elements that tell much: special ones and others.
func elems(n *graph.Node) (*interp.Array, error) {
	a := &interp.Array{DType: n.DType, Shape: n.Shape}
	for _, pos := range shape.Positions(n.Shape) {
		i := 0 // in memory
		for axis, p := range pos {
			i += p * n.Ints[1+axis]
		}
		x := float64((i*7+int(n.Num)*5)%11) - 3
		if n.DType.IsFloat() {
			if k := i + int(n.Num); k%9 == 4 {
				x = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[k/9%4]
			}
			x *= 0.75
		}
		if n.DType == i32 && n.Num > 7 { // an index
			x = float64(i % 3)
		}
		a.Elems = append(a.Elems, ir.Float(n.DType, x))
	}
	return a, nil
}

func TestRules(t *testing.T) {
	a, b := leaf(f32, 0, 2, 3), leaf(f32, 1, 2, 3)
	i, j := leaf(i32, 2, 2, 3), leaf(i32, 3, 2, 3)
	p, q := leaf(ir.Bool, 4, 2, 3), leaf(ir.Bool, 5, 2, 3)
	idx, row := leaf(i32, 8, 2, 4), leaf(i32, 9, 2, 1)
	zero, minusZero := fill(0, 2, 3), fill(math.Copysign(0, -1), 2, 3)
	ints := func(v int64) *graph.Node { return graph.Const(i32, ir.Int(i32, v), []int{2, 3}) }
	un, bin := graph.Unary, graph.Binary
	crop := func(x *graph.Node, s ...graph.Span) *graph.Node { return graph.Crop(x, s) }
	pad := func(x *graph.Node, fill float64) *graph.Node {
		return graph.Pad(x, ir.Float(f32, fill), []graph.Padding{{}, {Before: 1, Interior: 1}})
	}
	all := []int{0, 1}
	wide := func(x *graph.Node) *graph.Node { return graph.Expand(x, []int{2, 3}) }
	thin := leaf(f32, 6, 2, 1)

	left, right := graph.Expand(leaf(f32, 0, 2, 1, 3), []int{2, 4, 3}), graph.Expand(leaf(f32, 1, 1, 4, 3), []int{2, 4, 3})
	strided := graph.Leaf(f32, []int{2, 4, 3}, 6, []int{1, 3, 0, 1})
	turned := graph.Permute(graph.Expand(leaf(f32, 1, 4, 1, 3), []int{4, 2, 3}), []int{1, 0, 2})
	halves := bin(ir.Mul, graph.Expand(leaf(ir.Float16, 0, 2, 1, 3), []int{2, 4, 3}), graph.Expand(leaf(ir.Float16, 1, 1, 4, 3), []int{2, 4, 3}))
	cube := leaf(f32, 7, 2, 4, 3)
	sum := func(x *graph.Node) *graph.Node { return graph.Reduce(ir.Sum, x, []int{2}) }
	sumWindows := func(x *graph.Node) *graph.Node { return graph.Reduce(ir.Sum, x, []int{1}) }
	const product = "Sum[2][2 4 1](Mul(Expand[][2 4 3](a), Expand[][2 4 3](b)))"

	tested := map[string]bool{}
	for _, c := range []struct {
		rule string
		node *graph.Node
		want string
	}{
		{"foldConstants", bin(ir.Add, fill(2, 2, 3), fill(3, 2, 3)), "5[2 3]"},
		{"foldConstants of a cast", graph.Cast(fill(2.5, 2, 3), i32), "2[2 3]"},
		{"foldConstants of a comparison", bin(ir.Lt, zero, fill(1, 2, 3)), "true[2 3]"},
		{"no folding of numbers", bin(ir.Add, number(0, 2, 3), fill(3, 2, 3)), "Add(s0[2 3], 3[2 3])"},

		{"negNeg", un(ir.Neg, un(ir.Neg, a)), "a"},
		{"notNot", un(ir.Not, un(ir.Not, i)), "c"},
		{"notNot of bools", un(ir.Not, un(ir.Not, p)), "e"},
		{"addZero", bin(ir.Add, a, minusZero), "a"},
		{"addZero of 0", bin(ir.Add, a, zero), "Add(a, 0[2 3])"},
		{"addZero of integers", bin(ir.Add, ints(0), i), "c"},
		{"addNeg", bin(ir.Add, un(ir.Neg, a), b), "Sub(b, a)"},
		{"addNeg of the second", bin(ir.Add, a, un(ir.Neg, b)), "Sub(a, b)"},
		{"subZero", bin(ir.Sub, a, zero), "a"},
		{"subZero of -0", bin(ir.Sub, a, minusZero), "Sub(a, -0[2 3])"},
		{"subNeg", bin(ir.Sub, i, un(ir.Neg, j)), "Add(c, d)"},
		{"mulOne", bin(ir.Mul, fill(1, 2, 3), a), "a"},
		{"mulMinusOne", bin(ir.Mul, a, fill(-1, 2, 3)), "Neg(a)"},
		{"mulMinusOne of integers", bin(ir.Mul, ints(-1), i), "Neg(c)"},
		{"no multiplication by 0", bin(ir.Mul, a, zero), "Mul(a, 0[2 3])"},
		{"divOne", bin(ir.Div, a, fill(1, 2, 3)), "a"},
		{"no division of 1", bin(ir.Div, fill(1, 2, 3), a), "Div(1[2 3], a)"},
		{"whereConst", graph.Where(graph.Const(ir.Bool, 1, []int{2, 3}), a, b), "a"},
		{"whereConst of false", graph.Where(graph.Const(ir.Bool, 0, []int{2, 3}), a, b), "b"},
		{"whereSame", graph.Where(p, a, a), "a"},
		{"andSame", bin(ir.And, p, p), "e"},
		{"andSame of or", bin(ir.Or, i, i), "c"},
		{"no andSame of others", bin(ir.And, p, q), "And(e, f)"},
		{"equal subexpressions", bin(ir.And, bin(ir.Lt, a, b), bin(ir.Lt, a, b)), "Lt(a, b)"},

		{"operand", graph.StopGradient(un(ir.Neg, a)), "Neg(a)"},
		{"same of Permute", graph.Permute(leaf(f32, 0, 1, 1, 3), []int{1, 0, 2}), "a"},
		{"compose of Reshape", graph.Reshape(graph.Reshape(a, []int{6}), []int{3, 2}), "Reshape[][3 2](a)"},
		{"compose of Reshape, back", graph.Reshape(graph.Reshape(a, []int{6}), []int{2, 3}), "a"},
		{"compose of Permute", graph.Permute(graph.Permute(leaf(f32, 0, 2, 3, 4), []int{1, 2, 0}), []int{1, 2, 0}), "Permute[2 0 1][4 2 3](a)"},
		{"compose of Permute, back", graph.Permute(graph.Permute(a, []int{1, 0}), []int{1, 0}), "a"},
		{"compose of Expand", graph.Expand(graph.Expand(leaf(f32, 0, 1, 1), []int{1, 3}), []int{2, 3}), "Expand[][2 3](a)"},
		{"compose of Flip", graph.Flip(graph.Flip(a, []int{0, 1}), []int{1}), "Flip[0][2 3](a)"},
		{"compose of Flip, back", graph.Flip(graph.Flip(a, []int{1}), []int{1}), "a"},
		{"compose of Crop", crop(crop(leaf(f32, 0, 20), graph.Span{Start: 1, Step: 2, Len: 9}), graph.Span{Start: 2, Step: 3, Len: 2}), "Crop[5 6][2](a)"},
		{"moveUniform", graph.Flip(graph.Permute(number(0, 2, 3), []int{1, 0}), []int{0}), "s0[3 2]"},
		{"moveUniform of Pad", pad(fill(2, 2, 3), 2), "2[2 6]"},
		{"moveUniform of Pad with another", pad(fill(2, 2, 3), 1), "Pad[0 0 0 1 0 1][2 6](2[2 3])"},
		{"moveUniform of Unwindow", graph.Unwindow(zero, 0, 1, 1, 1, 4), "0[4 3]"},
		{"moveUniform of Unwindow of others", graph.Unwindow(fill(1, 2, 3), 0, 1, 1, 1, 4), "Unwindow[0 1 1 1][4 3](1[2 3])"},
		{"nothing is empty", crop(un(ir.Neg, a), graph.Span{Step: 1}, graph.Span{Step: 1, Len: 3}), "0[0 3]"},

		{"reduceNothing", graph.Reduce(ir.Sum, a, []int{}), "a"},
		{"reduceNothing of length 1", graph.Reduce(ir.Sum, leaf(ir.Uint8, 0, 2, 1), []int{1}), "int32(a)"},
		{"reduceNothing of some", graph.Reduce(ir.Prod, leaf(f32, 0, 2, 1, 3), all), "Prod[0][1 1 3](a)"},
		{"reduceNothing of ArgMax", graph.Reduce(ir.ArgMax, leaf(f32, 0, 2, 1), []int{1}), "0[2 1]"},
		{"reduceNothing of no element", graph.Reduce(ir.ReduceMax, leaf(f32, 0, 0, 3), []int{0}), "-Inf[1 3]"},
		{"reduceNothing of no element's product", graph.Reduce(ir.Prod, leaf(i32, 0, 0, 3), []int{0}), "1[1 3]"},
		{"reduceUniform", graph.Reduce(ir.Sum, fill(2, 2, 3), all), "12[1 1]"},
		{"reduceUniform of halves", graph.Reduce(ir.Sum, graph.Fill(ir.BFloat16, 3, []int{259}), []int{0}), "bfloat16(777[1])"},
		{"reduceUniform of many halves", graph.Reduce(ir.Sum, graph.Fill(ir.Float16, 0, []int{70000}), []int{0}), "0[1]"},
		{"reduceUniform of a number", graph.Reduce(ir.Sum, number(0, 2, 3), []int{1}), "Mul(s0[2 1], 3[2 1])"},
		{"reduceUniform of bools", graph.Reduce(ir.Sum, graph.Const(ir.Bool, 1, []int{2, 3}), all), "6[1 1]"},
		{"reduceUniform of a maximum", graph.Reduce(ir.ReduceMax, number(0, 2, 3), []int{1}), "s0[2 1]"},
		{"reduceExpanded", graph.Reduce(ir.Sum, wide(thin), all), "Mul(Sum[0][1 1](g), 3[1 1])"},
		{"reduceExpanded of a maximum", graph.Reduce(ir.ReduceMax, wide(thin), []int{1}), "g"},
		{"reduceExpanded along others", graph.Reduce(ir.Sum, wide(thin), []int{0}), "Expand[][1 3](Sum[0][1 1](g))"},
		{"reduceOnce of a buffer", graph.Reduce(ir.Sum, graph.Leaf(f32, []int{2, 3}, 0, []int{1, 0, 1}), []int{1}), "Expand[][2 1](Sum[1][1 1](a))"},
		{"squeezeExpand", graph.Reshape(graph.Expand(leaf(f32, 6, 1, 3), []int{2, 3}), []int{2, 1, 3}), "Expand[][2 1 3](Reshape[][1 1 3](g))"},
		{"no squeezeExpand", graph.Reshape(graph.Expand(leaf(f32, 6, 1, 3), []int{2, 3}), []int{3, 2}), "Reshape[][3 2](Expand[][2 3](g))"},
		{"reduceOnce of work", graph.Reduce(ir.Sum, graph.Binary(ir.Mul, fill(3, 2, 3), graph.Elementwise(ir.Exp, wide(thin))), []int{0}), "Expand[][1 3](Sum[0][1 1](Mul(3[2 1], Exp(g))))"},
		{"sumProducts", sum(bin(ir.Add, bin(ir.Mul, left, right), bin(ir.Mul, strided, right))), "Add(" + product + ", Sum[2][2 4 1](Mul(g, Expand[][2 4 3](b))))"},
		{"sumProducts of a difference", sum(bin(ir.Sub, bin(ir.Mul, left, right), bin(ir.Mul, left, turned))), "Sub(" + product + ", Sum[2][2 4 1](Mul(Expand[][2 4 3](a), Permute[1 0 2][2 4 3](Expand[][4 2 3](b)))))"},
		{"sumProducts of three", sum(bin(ir.Add, bin(ir.Add, bin(ir.Mul, left, right), bin(ir.Mul, right, left)), bin(ir.Mul, strided, right))), "Add(Add(" + product + ", Sum[2][2 4 1](Mul(Expand[][2 4 3](b), Expand[][2 4 3](a)))), Sum[2][2 4 1](Mul(g, Expand[][2 4 3](b))))"},
		{"no sumProducts of elements", sum(bin(ir.Add, cube, bin(ir.Mul, left, right))), "Sum[2][2 4 1](Add(h, Mul(Expand[][2 4 3](a), Expand[][2 4 3](b))))"},
		{"no sumProducts of halves", sum(bin(ir.Add, halves, halves)), "Sum[2][2 4 1](Add(" + text(halves) + ", " + text(halves) + "))"},
		{"no reduceExpanded of a product", graph.Reduce(ir.Prod, wide(thin), []int{1}), "Prod[1][2 1](Expand[][2 3](g))"},

		{"splitStride", sumWindows(graph.Unwindow(leaf(f32, 0, 3, 2), 0, 1, 2, 1, 6)), "Reshape[][6 1](Permute[0 2 1][3 2 1](Reshape[][3 1 2](a)))"},
		{"splitStride of short windows", sumWindows(graph.Unwindow(leaf(f32, 0, 3, 2), 0, 1, 3, 1, 8)), "Crop[0 1 0 1][8 1](Reshape[][9 1](Cat[1][3 3 1](Permute[0 2 1][3 2 1](Crop[0 1 0 1 0 1][3 1 2](Reshape[][3 1 3](Pad[0 0 0 0 1 0][3 3](a)))), 0[3 1 1])))"},
		{"splitStride of windows that overlap", sumWindows(graph.Unwindow(leaf(f32, 0, 3, 4), 0, 1, 2, 1, 8)), "Reshape[][8 1](Sum[2][4 2 1](Unwindow[0 2 1 1][4 2 2](Permute[0 2 1][3 2 2](Reshape[][3 2 2](a)))))"},
		{"splitStride of odd windows", sumWindows(graph.Unwindow(leaf(f32, 0, 3, 3), 0, 1, 2, 1, 7)),
			"Crop[0 1 0 1][7 1](Reshape[][8 1](Cat[1][4 2 1](Sum[2][4 1 1](Unwindow[0 2 1 1][4 1 2](Permute[0 2 1][3 1 2](Crop[0 1 0 1 0 1][3 2 1](Reshape[][3 2 2](Pad[0 0 0 0 1 0][3 4](a)))))), Pad[0 1 0 0 0 0 0 0 0][4 1 1](Crop[0 1 0 1 1 1][3 1 1](Reshape[][3 1 2](Crop[0 1 0 1][3 2](a)))))))"},
		{"splitStride of two axes", graph.Reduce(ir.Sum, graph.Unwindow(graph.Unwindow(leaf(f32, 0, 2, 2, 2, 2), 1, 3, 2, 1, 4), 0, 2, 2, 1, 4), []int{2, 3}), "Reshape[][4 4 1 1](Permute[0 1 2 5 3 4][2 2 2 2 1 1](Reshape[][2 2 2 1 1 2](Permute[0 3 1 2 4][2 2 2 1 2](Reshape[][2 2 1 2 2](a)))))"},
		{"no splitStride of dilated windows", sumWindows(graph.Unwindow(leaf(f32, 0, 3, 2), 0, 1, 2, 3, 8)), "Sum[1][8 1](Unwindow[0 1 2 3][8 2](a))"},
		{"cropWindows", crop(graph.Reshape(sumWindows(graph.Unwindow(leaf(f32, 0, 3, 3), 0, 1, 1, 1, 5)), []int{1, 5}), graph.Span{Step: 1, Len: 1}, graph.Span{Start: 1, Step: 1, Len: 3}), "Reshape[][1 3](Sum[1][3 1](Crop[1 1 0 1][3 3](Unwindow[0 1 1 1][5 3](a))))"},
		{"cropWindows of a permutation", crop(graph.Permute(sumWindows(graph.Unwindow(leaf(f32, 0, 3, 3), 0, 1, 1, 1, 5)), []int{1, 0}), graph.Span{Step: 1, Len: 1}, graph.Span{Step: 2, Len: 2}), "Permute[1 0][1 2](Sum[1][2 1](Crop[0 2 0 1][2 3](Unwindow[0 1 1 1][5 3](a))))"},
		{"no cropWindows of other sums", crop(sumWindows(a), graph.Span{Step: 1, Len: 1}, graph.Span{Step: 1, Len: 1}), "Crop[0 1 0 1][1 1](Sum[1][2 1](a))"},

		{"gatherInwards", graph.Gather(bin(ir.Sub, a, wide(thin)), idx, 1), "Sub(Gather[1][2 4](a, i), Expand[][2 4](g))"},
		{"gatherInwards of a number", graph.Gather(bin(ir.Mul, number(0, 2, 3), a), idx, 1), "Mul(s0[2 4], Gather[1][2 4](a, i))"},
		{"no gatherInwards of two", graph.Gather(bin(ir.Sub, a, b), idx, 1), "Gather[1][2 4](Sub(a, b), i)"},
		{"no gatherInwards onto a gather", graph.Gather(un(ir.Exp, graph.Gather(a, idx, 1)), idx, 1), "Gather[1][2 4](Exp(Gather[1][2 4](a, i)), i)"},
		{"no gatherInwards where the index would go", graph.Gather(un(ir.Exp, wide(thin)), idx, 1), "Gather[1][2 4](Exp(Expand[][2 3](g)), i)"},
		{"scanOne", graph.Scan(ir.Add, thin, 1), "g"},
		{"sortOne", graph.Sort(row, 1, 1), "0[2 1]"},
		{"scatterOne", graph.GatherTranspose(thin, row, 1, 3), "Where(Eq(Iota[1][2 3](), Expand[][2 3](j)), Expand[][2 3](g), 0[2 3])"},
		{"no scatterOne of what may be out of range", graph.Scatter(ir.Add, zero, row, thin, 1), "Scatter[1][2 3](0[2 3], j, g)"},
		{"no scatterOne of several", graph.GatherTranspose(leaf(f32, 7, 2, 4), idx, 1, 3), "Scatter[1 1][2 3](0[2 3], i, h)"},
	} {
		tested[strings.Fields(c.rule)[0]] = true
		got := Nodes([]*graph.Node{c.node})[0]
		if text(got) != c.want {
			t.Errorf("%s: %s becomes %s, want %s", c.rule, text(c.node), text(got), c.want)
		}
		if got.DType != c.node.DType || !slices.Equal(got.Shape, c.node.Shape) {
			t.Errorf("%s: %v %v becomes %v %v", c.rule, c.node.DType, c.node.Shape, got.DType, got.Shape)
			continue
		}
		values, err := interp.Eval([]*graph.Node{c.node, got}, elems)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		for k, want := range values[0].Elems {
			if x := values[1].Elems[k]; !near(c.node.DType, x, want) {
				t.Errorf("%s: element %d of %s is %s, before %s", c.rule, k, text(got), x.Text(got.DType), want.Text(got.DType))
			}
		}
	}
	for _, list := range rules {
		for _, r := range list {
			name := runtime.FuncForPC(reflect.ValueOf(r).Pointer()).Name()
			if name = name[strings.LastIndex(name, ".")+1:]; !tested[name] {
				t.Errorf("no case tests the rule %s", name)
			}
		}
	}
}

// near reports whether two numbers are the same, but for the last bits.
func near(d ir.DType, x, y ir.Number) bool {
	if !d.IsFloat() {
		return x == y
	}
	v, w := x.Float64(d), y.Float64(d)
	return v == w && math.Signbit(v) == math.Signbit(w) || math.IsNaN(v) && math.IsNaN(w) || math.Abs(v-w) <= 1e-6*math.Abs(w)
}

// Equal nodes become one; nodes of different RematLevels or numbers do not.
func TestMerging(t *testing.T) {
	a := leaf(f32, 0, 2, 3)
	x, y := graph.Unary(ir.Exp, a), graph.Unary(ir.Exp, a)
	later := graph.WithOperands(x, a)
	later.RematLevel = 1
	got := Nodes([]*graph.Node{x, y, later, graph.StopGradient(y), number(0, 2), number(0, 2), number(1, 2)})
	for _, c := range []struct {
		i, j int
		same bool
	}{{0, 1, true}, {0, 2, false}, {0, 3, true}, {4, 5, true}, {4, 6, false}} {
		if (got[c.i] == got[c.j]) != c.same {
			t.Errorf("roots %d and %d: one node is %v, want %v", c.i, c.j, !c.same, c.same)
		}
	}
}

// A deep graph overflows no stack.
func TestDeep(t *testing.T) {
	x := leaf(f32, 0, 2)
	for range 100_000 {
		x = graph.Unary(ir.Neg, graph.Unary(ir.Sin, x))
	}
	if n := len(graph.Sorted(Nodes([]*graph.Node{x}))); n != 200_001 {
		t.Errorf("%d nodes, want 200001", n)
	}
}
