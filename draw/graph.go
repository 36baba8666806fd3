package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// colors has the color of a box by the operation's class.
var colors = map[ir.Class]string{
	ir.Source: "#e8e8e8", ir.Alias: "#f7f7f7", ir.Elementwise: "#dcecfb", ir.Reduction: "#fbe3c8",
	ir.Movement: "#f7f7f7", ir.Indexed: "#e2f3dc", ir.Ordered: "#eadff5", ir.Hosted: "#fbd5d5",
}

// mostVertices is the greatest number of boxes of a drawing.
const mostVertices = 2000

// Graph draws the operations that compute the tensors of trees, before they are compiled.
// Results have a bold frame and, in a tree, a name. Numbers are in the text of the operations
// that use them. A tensor that was computed before is "stored".
//
// More than 2000 boxes are misuse: draw a part of the graph, or the layers of a model.
func Graph(trees ...any) SVG {
	var roots []*graph.Node
	names := map[*graph.Node][]string{}
	for _, tree := range trees {
		leaves, err := pytree.Flatten[tensor.Tensor](tree)
		if err != nil {
			fail("Graph", "%v", err)
		}
		for _, l := range leaves {
			if l.Value.IsValid() {
				n := tensor.Internal.Node(graph.Token{}, l.Value)
				roots, names[n] = append(roots, n), append(names[n], l.Name)
			}
		}
	}
	if len(roots) == 0 {
		fail("Graph", "there is no tensor to draw")
	}
	index := map[*graph.Node]int{}
	var vs []vertex
	for _, n := range graph.Sorted(roots) {
		if names[n] == nil && number(n) != "" {
			continue
		}
		v := vertex{color: colors[n.Op.Class()], bold: names[n] != nil}
		text := n.Op.String()
		if x := number(n); x != "" {
			text = x
		}
		if n.Src().Len() == 0 && n.Op.Class() != ir.Source {
			v.color = colors[ir.Source]
			text = "stored"
		}
		for _, s := range n.Src().All() {
			if i, ok := index[s]; ok {
				if !slices.Contains(v.inputs, i) {
					v.inputs = append(v.inputs, i)
				}
			} else {
				text += " " + number(s)
			}
		}
		v.lines = []string{text, fmt.Sprintf("%v %v", n.DType, n.Shape)}
		if name := strings.Join(names[n], ", "); name != "" {
			v.lines = append([]string{name}, v.lines...)
		}
		index[n] = len(vs)
		vs = append(vs, v)
	}
	check("Graph", vs)
	return render(vs)
}

// number returns the number that all elements of a constant are, "" of other nodes.
func number(n *graph.Node) string {
	for n.Op == ir.Reshape || n.Op == ir.Expand || n.Op == ir.Cast {
		if n.Src().Len() == 0 {
			return ""
		}
		n = n.Operand(0)
	}
	if n.Op == ir.Const || n.Op == ir.Scalar {
		return n.Num.Text(n.DType)
	}
	return ""
}

// Model draws how data flow through the layers of a model: a box for each layer that holds no
// others, with its name, type and the shape of its result, and one for each call between
// layers, such as a residual sum. See [nn.SummaryOf].
func Model(r *nn.Report) SVG {
	if r == nil || len(r.Steps) == 0 {
		fail("Model", "the report is empty: make it with nn.SummaryOf")
	}
	for i, s := range r.Steps {
		if s.Layer >= len(r.Layers) || slices.ContainsFunc(s.Inputs, func(k int) bool { return k < 0 || k >= i }) {
			fail("Model", "step %d of the report is of a layer or a step that it lacks: make it with nn.SummaryOf", i)
		}
	}
	vs := make([]vertex, len(r.Steps))
	used := make([]bool, len(vs))
	for i, s := range r.Steps {
		v := vertex{lines: []string{s.What}, color: colors[ir.Movement], inputs: s.Inputs}
		switch {
		case s.Layer < 0:
			v.color = colors[ir.Source]
		case s.What == r.Layers[s.Layer].Name:
			v.lines, v.color = append(v.lines, r.Layers[s.Layer].Type), colors[ir.Elementwise]
		}
		v.lines = append(v.lines, fmt.Sprint(s.Output))
		vs[i] = v
		for _, k := range s.Inputs {
			used[k] = true
		}
	}
	for i := range vs {
		vs[i].bold = !used[i]
	}
	check("Model", vs)
	return render(vs)
}

func check(op string, vs []vertex) {
	if len(vs) > mostVertices {
		fail(op, "%d boxes are more than the %d that one can look at: draw a part", len(vs), mostVertices)
	}
}

// fail panics with a *tensor.Error that points at the user's call.
func fail(op, format string, args ...any) {
	tensor.Internal.Misuse(graph.Token{}, "draw."+op, fmt.Sprintf(format, args...))
}
