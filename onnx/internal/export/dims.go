package export

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// A Dim is an axis of an input whose length differs from run to run.
type Dim struct {
	Name, Input string
	Axis        int
}

// primes are the lengths for which a function is traced: primes, so that no other length is one of them by
// chance, and on three sides of powers of 2, on which the number of steps of a scan depends.
var primes = []int{101, 103, 107, 109, 193, 197, 199, 211, 389, 397, 401, 409}

// MaxDims is the greatest number of names of axes.
const MaxDims = 4

// Dynamic returns the model of a function of which some axes have any lengths. trace returns the model for
// some lengths. Numbers of shapes, bounds and counts may differ among the models if they are sums of multiples
// of lengths and a constant; nodes compute them from the inputs. All else must be equal.
func Dynamic(dims []Dim, trace func(lengths []int) (*proto.Model, error)) (*proto.Model, error) {
	n := len(dims)
	d := &dynamic{dims: dims, points: [][]int{primes[:n:n]}, made: map[string]string{}}
	for i := range dims {
		for k := range 2 {
			d.points = append(d.points, slices.Replace(slices.Clone(primes[:n]), i, i+1, primes[MaxDims*(k+1)+i]))
		}
	}
	d.points = append(d.points, primes[MaxDims:MaxDims+n]) // which differs along all axes
	for _, p := range d.points {
		m, err := trace(p)
		if err != nil {
			return nil, fmt.Errorf("traced for lengths %v: %w", p, err)
		}
		d.models = append(d.models, m)
	}
	var graphs []*proto.Graph
	for _, m := range d.models {
		graphs = append(graphs, m.Graph)
	}
	if err := d.compare(graphs); err != nil {
		return nil, err
	}
	d.nameDims(graphs)
	return d.models[0], d.constants(graphs)
}

// A dynamic is models of one function for several lengths. The first becomes the result.
type dynamic struct {
	dims   []Dim
	points [][]int // the lengths
	models []*proto.Model
	nodes  []*proto.Node     // nodes that compute numbers
	made   map[string]string // names of the numbers
	lists  []*proto.Tensor   // constants of them
}

// An affine is a sum of multiples of lengths and a constant.
type affine struct {
	by  []int
	add int
}

func (f affine) at(lengths []int) int {
	sum := f.add
	for i, k := range f.by {
		sum += k * lengths[i]
	}
	return sum
}

// fit returns the affine number with values at the points. ok is false for others.
func (d *dynamic) fit(values []int) (f affine, ok bool) {
	f.by = make([]int, len(d.dims))
	for i := range d.dims {
		f.by[i] = (values[1+2*i] - values[0]) / (d.points[1+2*i][i] - d.points[0][i])
	}
	f.add = values[0] - f.at(d.points[0])
	for i, p := range d.points {
		if f.at(p) != values[i] {
			return f, false
		}
	}
	return f, true
}

// differ reports whether a number depends on lengths.
func differ(values []int) bool {
	return slices.ContainsFunc(values, func(v int) bool { return v != values[0] })
}

// compare returns an error unless the graphs have the same nodes and names.
func (d *dynamic) compare(gs []*proto.Graph) error {
	for _, g := range gs[1:] {
		if len(g.Nodes) != len(gs[0].Nodes) || len(g.Initializers) != len(gs[0].Initializers) {
			return fmt.Errorf("the lengths with names change the model, from %d nodes to %d: give fewer names", len(gs[0].Nodes), len(g.Nodes))
		}
		for i, n := range g.Nodes {
			if a, b := text(gs[0].Nodes[i]), text(n); a != b {
				return fmt.Errorf("the lengths with names change the model, from %s to %s: give fewer names", a, b)
			}
		}
	}
	for i, n := range gs[0].Nodes {
		for j, a := range n.Attrs {
			if a.G != nil {
				if err := d.compare(bodies(gs, i, j)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// bodies returns an attribute of a node in each graph.
func bodies(gs []*proto.Graph, node, attr int) []*proto.Graph {
	out := make([]*proto.Graph, len(gs))
	for k, g := range gs {
		out[k] = g.Nodes[node].Attrs[attr].G
	}
	return out
}

// text is a node without its body.
func text(n *proto.Node) string {
	s := fmt.Sprint(n.Op, n.Inputs, n.Outputs)
	for _, a := range n.Attrs {
		s += fmt.Sprint(" ", a.Name, " ", a.I, a.F, a.S, a.Ints)
	}
	return s
}

// nameDims names the axes in the types of values.
func (d *dynamic) nameDims(gs []*proto.Graph) {
	infos := func(g *proto.Graph) []*proto.ValueInfo { return slices.Concat(g.Inputs, g.Outputs, g.Infos) }
	for i, x := range infos(gs[0]) {
		for a := range x.Type.Dims {
			var values []int
			for _, g := range gs {
				values = append(values, int(infos(g)[i].Type.Dims[a].Value))
			}
			if differ(values) {
				defer func() { x.Type.Dims[a] = d.dim(values) }() // when all are compared
			}
		}
	}
	for i, n := range gs[0].Nodes {
		for j, a := range n.Attrs {
			if a.G != nil {
				d.nameDims(bodies(gs, i, j))
			}
		}
	}
}

// dim is a length that differs, by its name if it has one.
func (d *dynamic) dim(values []int) proto.Dim {
	for i, x := range d.dims {
		own := make([]int, len(values))
		for k, p := range d.points {
			own[k] = p[i]
		}
		if slices.Equal(own, values) {
			return proto.Dim{Value: -1, Param: x.Name}
		}
	}
	return proto.Dim{Value: -1}
}

// constants replaces the initializers that differ by nodes.
func (d *dynamic) constants(gs []*proto.Graph) error {
	g := gs[0]
	var same []*proto.Tensor
	for i, x := range g.Initializers {
		values, err := elements(gs, i)
		if err == nil && values != nil {
			err = d.compute(x, values)
		}
		if err != nil {
			return err
		}
		if values == nil {
			same = append(same, x)
		}
	}
	g.Initializers = append(same, d.lists...)
	g.Nodes = append(d.nodes, g.Nodes...)
	return nil
}

// elements returns the numbers of an initializer in each graph, nil if they are the same ones.
func elements(gs []*proto.Graph, i int) (values [][]int, err error) {
	first := gs[0].Initializers[i].Decoded.(op.Value)
	bytes, same := make([][]byte, len(gs)), true
	for k, g := range gs {
		t := g.Initializers[i].Decoded.(op.Value).Tensor
		if tensor.Internal.Node(graph.Token{}, t) == tensor.Internal.Node(graph.Token{}, first.Tensor) && k > 0 {
			bytes[k] = bytes[0]
			continue
		}
		if bytes[k], err = t.Bytes(); err != nil {
			return nil, err
		}
		if t.Rank() > 1 && string(bytes[k]) != string(bytes[0]) || !slices.Equal(t.Shape(), first.Dims()) {
			return nil, fmt.Errorf("the lengths with names change constants, such as positions of windows, of %v: give fewer names", first)
		}
		same = same && string(bytes[k]) == string(bytes[0])
	}
	if same {
		return nil, nil
	}
	t := first.Tensor.DType()
	for j := 0; j < len(bytes[0]); j += t.Size() {
		var list []int
		for _, b := range bytes {
			x := ir.Decode(t, b[j:])
			if x.Convert(t, ir.Int64).Convert(ir.Int64, t) != x {
				return nil, fmt.Errorf("the lengths with names change the number %s: give fewer names", x.Text(t))
			}
			list = append(list, int(x.Int64(t)))
		}
		values = append(values, list)
	}
	return values, nil
}

// compute adds nodes with the elements of an initializer, of which each has values at the points. One element
// of a shape for Reshape alone may be anything: it becomes -1.
func (d *dynamic) compute(x *proto.Tensor, values [][]int) error {
	v := x.Decoded.(op.Value)
	free := d.isShape(x.Name)
	var pieces []string
	for _, list := range values {
		f, ok := d.fit(list)
		if free && !ok {
			f, ok, free = affine{add: -1}, true, false
		}
		if !ok {
			return fmt.Errorf("a number of the model, such as %v, is no sum of multiples of the lengths with names: give fewer names", list)
		}
		pieces = append(pieces, d.number(f))
	}
	if v.Tensor.Rank() == 1 {
		d.node("Concat", x.Name, pieces, intAttr("axis", 0))
		return nil
	}
	d.node("Squeeze", x.Name, []string{d.node("Cast", "", pieces, intAttr("to", int(v.Elem)))})
	return nil
}

// isShape reports whether an initializer is the shape of Reshape alone.
func (d *dynamic) isShape(name string) bool {
	for _, n := range d.models[0].Graph.Nodes {
		for i, in := range n.Inputs {
			if in == name && (n.Op != "Reshape" || i != 1) {
				return false
			}
		}
	}
	return true
}

// number returns the name of a list with one number.
func (d *dynamic) number(f affine) string {
	key := fmt.Sprint(f)
	if name := d.made[key]; name != "" {
		return name
	}
	sum := ""
	plus := func(name string) {
		if sum != "" {
			name = d.node("Add", "", []string{sum, name})
		}
		sum = name
	}
	for i, k := range f.by {
		if k != 0 {
			length := d.node("Shape", "", []string{d.dims[i].Input}, intAttr("start", d.dims[i].Axis), intAttr("end", d.dims[i].Axis+1))
			if k != 1 {
				length = d.node("Mul", "", []string{length, d.list(k)})
			}
			plus(length)
		}
	}
	if f.add != 0 || sum == "" {
		plus(d.list(f.add))
	}
	d.made[key] = sum
	return sum
}

// list returns the name of a constant list with one number.
func (d *dynamic) list(k int) string {
	key := fmt.Sprint("list ", k)
	if d.made[key] == "" {
		d.made[key] = fmt.Sprintf("length:%d", len(d.made))
		d.lists = append(d.lists, &proto.Tensor{Name: d.made[key], Decoded: op.KnownInts([]int{k}, 1)})
	}
	return d.made[key]
}

// node adds a node, or finds the same one. Without a name of its result it gets one.
func (d *dynamic) node(name, result string, in []string, attrs ...*proto.Attr) string {
	n := &proto.Node{Op: name, Inputs: in, Attrs: attrs}
	key := text(n)
	if result == "" {
		if d.made[key] != "" {
			return d.made[key]
		}
		result = fmt.Sprintf("length:%d", len(d.made))
		d.made[key] = result
	}
	n.Name, n.Outputs = result, []string{result}
	d.nodes = append(d.nodes, n)
	return result
}
