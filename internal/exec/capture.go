package exec

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/fuse"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A request is a graph to be computed, in canonical form: nodes numbered at
// first visit, with aliases replaced by what they stand for and views of
// stored tensors as leaves. Requests with equal keys have equal plans.
type request struct {
	key       []byte
	nodes     []*graph.Node   // by number
	src       [][]*graph.Node // their operands, as loaded once
	number    map[*graph.Node]int32
	leaf      []int32 // of a node, its leaf; -1 if it is none
	leaves    []leaf
	scalars   []ir.Number
	outputs   []output
	at        []int32 // a node's output by number, from 1; 0 for none
	stack     []frame
	roots     []*graph.Node
	bundles   map[*graph.CoOutputs]bool
	bundled   []bundled     // nodes that have a bundle
	failed    error         // of a value that a bundle asks for
	old       []*graph.Node // of a root, what it falls back to
	fallbacks []compile.Fallback
	device    *Device       // that is to compute it, nil for any
	foreign   []*graph.Node // what other devices have to compute first
	fresh     []bool        // of a node, whether something new is made of it
	made      []int         // of a node, how many elements it is made of, less constants
	used      []bool        // of a node, whether others than reductions use it
}

// A leaf is a view of stored elements.
type leaf struct {
	value *graph.Value
	view  fuse.Strided
	shape []int
	dtype ir.DType
}

// An output is nodes to be stored, which all stand for the same number.
type output struct {
	number int32
	nodes  []*graph.Node
}

// A bundled node is worthless without what its bundle asks for, unless the
// bundle asks for the node itself.
type bundled struct {
	node   *graph.Node
	bundle *graph.CoOutputs
}

type frame struct {
	n    *graph.Node
	src  []*graph.Node
	next int
}

var requests = sync.Pool{New: func() any {
	return &request{number: map[*graph.Node]int32{}, bundles: map[*graph.CoOutputs]bool{}}
}}

// newRequest returns the request for roots on a device, nil for any. It must be
// released. It can be computed if there is nothing foreign in it. For old see
// Step.
func newRequest(d *Device, roots, old []*graph.Node) *request {
	r := requests.Get().(*request)
	r.device = d
	r.old = append(r.old, old...)
	r.roots = append(r.roots, roots...)
	for i := 0; i < len(r.roots); i++ { // bundles add to them
		r.walk(r.roots[i])
	}
	r.store()
	for _, n := range r.roots {
		r.output(n)
	}
	r.key = binary.AppendUvarint(r.key, uint64(len(r.outputs)))
	for _, o := range r.outputs {
		r.key = binary.AppendUvarint(r.key, uint64(o.number))
	}
	for _, b := range r.bundled {
		r.key = binary.AppendUvarint(r.key, uint64(r.number[b.node]))
		r.key = binary.AppendUvarint(r.key, uint64(len(b.bundle.Nodes)))
		for _, m := range b.bundle.Nodes {
			r.key = binary.AppendVarint(r.key, int64(r.find(r.numberOf(m))))
		}
	}
	r.fallBack()
	return r
}

// numberOf is the number of a node, -1 if it is not part of the request.
func (r *request) numberOf(n *graph.Node) int32 {
	if i, ok := r.number[n]; ok {
		return i
	}
	return -1
}

// fallBack pairs outputs with the leaves that they fall back to. There are none
// unless all outputs of a transaction have one.
func (r *request) fallBack() {
	if len(r.old) == 0 || r.device == nil || !r.device.limits.Async || !r.checks() {
		return
	}
	for i, old := range r.old {
		n := r.roots[i]
		if n == old || n.Value() != nil {
			continue
		}
		var v *graph.Value
		if old != nil {
			v = old.Value()
		}
		if v == nil || v.Err != nil || old.DType != n.DType || !slices.Equal(old.Shape, n.Shape) {
			r.fallbacks = r.fallbacks[:0]
			return
		}
		r.walk(old)
		l := r.leaf[r.number[old]]
		if l < 0 { // computed by another goroutine since it was numbered
			r.fallbacks = r.fallbacks[:0]
			return
		}
		r.fallbacks = append(r.fallbacks, compile.Fallback{Output: r.find(r.number[n]), Leaf: int(l), Strides: r.leaves[l].view.Strides})
	}
	r.key = binary.AppendUvarint(r.key, uint64(len(r.fallbacks)))
	for _, f := range r.fallbacks {
		r.key = binary.AppendUvarint(r.key, uint64(f.Output))
		r.key = binary.AppendUvarint(r.key, uint64(f.Leaf))
	}
}

// checks reports whether anything in the request checks indices.
func (r *request) checks() bool {
	return slices.ContainsFunc(r.nodes, func(n *graph.Node) bool { return n.Op.Class() == ir.Indexed })
}

func (r *request) release() {
	r.key = r.key[:0]
	clear(r.nodes)
	clear(r.src)
	r.nodes, r.src = r.nodes[:0], r.src[:0]
	if len(r.number) > 1<<12 {
		return // clearing a large map is slow for ever
	}
	clear(r.number)
	clear(r.bundles)
	clear(r.leaves)
	clear(r.outputs)
	clear(r.roots)
	clear(r.bundled)
	clear(r.foreign)
	clear(r.old)
	clear(r.fallbacks)
	r.bundled, r.foreign, r.old, r.fallbacks, r.failed = r.bundled[:0], r.foreign[:0], r.old[:0], r.fallbacks[:0], nil
	clear(r.stack[:cap(r.stack)])
	r.leaf, r.leaves, r.scalars = r.leaf[:0], r.leaves[:0], r.scalars[:0]
	r.at = r.at[:0]
	r.made, r.used = r.made[:0], r.used[:0]
	r.outputs, r.stack, r.roots = r.outputs[:0], r.stack[:0], r.roots[:0]
	requests.Put(r)
}

// walk numbers n and what it depends on.
func (r *request) walk(root *graph.Node) {
	r.push(root)
	for len(r.stack) > 0 {
		top := &r.stack[len(r.stack)-1]
		if top.next < len(top.src) {
			top.next++
			r.push(top.src[top.next-1])
			continue
		}
		n, src := top.n, top.src
		r.stack = r.stack[:len(r.stack)-1]
		r.visit(n, src)
	}
}

func (r *request) push(n *graph.Node) {
	if _, ok := r.number[n]; ok {
		return
	}
	s := n.State()
	if n.Op == ir.Cast && s.Value == nil && r.device != nil {
		if err := r.device.castOnHost(n, s.Src[0]); err != nil {
			r.failed = err
		}
		s = n.State()
	}
	if s.Value != nil {
		r.number[n] = r.addLeaf(leaf{s.Value, fuse.Strided{Offset: s.Value.Offset, Strides: s.Value.Strides}, n.Shape, n.DType}, n)
		return
	}
	if d, ok := n.Device.(*Device); ok && r.device != nil && d != r.device && !(n.Op == ir.Alias && s.Src[0].Value() != nil) {
		r.foreign = append(r.foreign, n)
		r.add(n, nil, -1)
		return
	}
	r.number[n] = -1 // on the stack
	r.stack = append(r.stack, frame{n: n, src: s.Src})
	if b := n.CoOutputs; b != nil {
		if !slices.Contains(b.Nodes, n) {
			r.bundled = append(r.bundled, bundled{n, b})
		}
		if !r.bundles[b] {
			r.bundles[b] = true
			r.ask(b)
		}
	}
}

// ask adds what a bundle asks for to the roots.
func (r *request) ask(b *graph.CoOutputs) {
	for _, m := range b.Nodes {
		switch v := m.Value(); {
		case v != nil && v.Err != nil:
			r.failed = v.Err
		case v == nil && (r.device == nil || deviceOf(m, r.device) == r.device):
			r.roots = append(r.roots, m)
		}
	}
}

// visit numbers n, whose operands are numbered.
func (r *request) visit(n *graph.Node, src []*graph.Node) {
	if n.Op == ir.Alias {
		r.number[n] = r.number[src[0]]
		return
	}
	if n.Op.Class() == ir.Movement && n.Op != ir.Cat && n.Len() > 0 {
		if i := r.number[src[0]]; r.leaf[i] >= 0 && src[0].Len() > 0 {
			l := &r.leaves[r.leaf[i]]
			if l.value.Err != nil {
				r.number[n] = i // as failed as what it moves
				return
			}
			if v, ok := l.view.Move(n, l.shape); ok {
				r.number[n] = r.addLeaf(leaf{l.value, v, n.Shape, n.DType}, n)
				return
			}
		}
	}
	k := append(r.key, byte(n.Op), byte(n.DType), byte(n.Kind), byte(len(n.Shape)), byte(len(n.Ints)))
	k = binary.AppendVarint(k, int64(n.RematLevel))
	for _, d := range n.Shape {
		k = binary.AppendUvarint(k, uint64(d))
	}
	for _, i := range n.Ints {
		k = binary.AppendVarint(k, int64(i))
	}
	switch n.Op {
	case ir.Const, ir.Pad:
		k = binary.LittleEndian.AppendUint64(k, uint64(n.Num))
	case ir.Scalar:
		r.scalars = append(r.scalars, n.Num)
	case ir.Cat:
		k = binary.AppendUvarint(k, uint64(len(src)))
	}
	for _, s := range src {
		k = binary.AppendUvarint(k, uint64(r.number[s]))
	}
	r.key = k
	r.add(n, src, -1)
}

// store adds to the roots what is to be stored though nobody asked for it: what
// is marked Keep and, of what is computed once more, that which something new
// is made of.
func (r *request) store() {
	fresh := append(r.fresh[:0], make([]bool, len(r.nodes))...)
	r.fresh = fresh
	for i, n := range slices.Backward(r.nodes) {
		again := n.IsComputed()
		if n.IsKept() || again && fresh[i] {
			r.roots = append(r.roots, n)
		}
		if r.leaf[i] >= 0 || again || n.Op.Class() == ir.Movement && !fresh[i] {
			continue
		}
		for _, s := range r.src[i] {
			fresh[r.number[s]] = true
		}
	}
}

// add gives n the next number.
func (r *request) add(n *graph.Node, src []*graph.Node, leaf int32) int32 {
	i := int32(len(r.nodes))
	r.number[n] = i
	r.nodes = append(r.nodes, n)
	r.src = append(r.src, src)
	r.leaf = append(r.leaf, leaf)
	return i
}

// addLeaf numbers a leaf, or finds the equal one.
func (r *request) addLeaf(l leaf, n *graph.Node) int32 {
	for i := range r.leaves {
		m := &r.leaves[i]
		if i >= 64 {
			break // not worth the search
		}
		if m.value.Store == l.value.Store && m.value.Err == l.value.Err && m.view.Offset == l.view.Offset && slices.Equal(m.shape, l.shape) && slices.Equal(m.view.Strides, l.view.Strides) {
			return int32(slices.Index(r.leaf, int32(i)))
		}
	}
	k := append(r.key, byte(ir.Buffer), byte(l.dtype), byte(len(l.shape)), byte(l.align()))
	for i, d := range l.shape {
		k = binary.AppendUvarint(k, uint64(d))
		if d != 1 && l.value.Err == nil { // others have no say
			k = binary.AppendVarint(k, int64(l.view.Strides[i]))
		}
	}
	r.key = k
	r.leaves = append(r.leaves, l)
	return r.add(n, nil, int32(len(r.leaves)-1))
}

// align is 1 if the leaf's offset is a multiple of 16 bytes.
func (l *leaf) align() int {
	if l.view.Offset*l.dtype.Size()%16 == 0 {
		return 1
	}
	return 0
}

// output asks that n be stored.
func (r *request) output(n *graph.Node) {
	if n.Value() != nil {
		return
	}
	if n.Len() == 0 {
		n.SetValue(&graph.Value{Store: FromHost(nil), Strides: make([]int, len(n.Shape))})
		return
	}
	number := r.number[n]
	i := r.find(number)
	if i < 0 {
		i = len(r.outputs)
		r.outputs = append(r.outputs, output{number: number})
		r.at = append(r.at, make([]int32, len(r.nodes)-len(r.at))...)
		r.at[number] = int32(i + 1)
	}
	o := &r.outputs[i]
	for n.Op == ir.Alias { // what it stands for need not be computed again
		if n.Value() == nil && !slices.Contains(o.nodes, n) {
			o.nodes = append(o.nodes, n)
		}
		src := n.Src()
		if src == nil {
			return
		}
		n = src[0]
	}
	if n.Value() == nil && !slices.Contains(o.nodes, n) {
		o.nodes = append(o.nodes, n)
	}
}

// ties lists, for each output, those without which it is worthless: what the
// bundles of the nodes that it is computed from ask for.
func (r *request) ties() [][]int {
	if len(r.bundled) == 0 {
		return nil
	}
	var bundles []*graph.CoOutputs
	number := map[*graph.CoOutputs]int{}
	for _, b := range r.bundled {
		if _, ok := number[b.bundle]; !ok {
			number[b.bundle] = len(bundles)
			bundles = append(bundles, b.bundle)
		}
	}
	words := (len(bundles) + 63) / 64
	below := make([]uint64, words*len(r.nodes)) // sets of bundles, by a node's number
	of := func(number int32) []uint64 { return below[words*int(number):][:words] }
	for _, b := range r.bundled {
		k := number[b.bundle]
		of(r.number[b.node])[k/64] |= 1 << (k % 64)
	}
	for i, src := range r.src {
		for _, s := range src {
			for w, x := range of(r.number[s]) {
				below[words*i+w] |= x
			}
		}
	}
	ties := make([][]int, len(r.outputs))
	for o := range r.outputs {
		for k, b := range bundles {
			if of(r.outputs[o].number)[k/64]>>(k%64)&1 == 0 {
				continue
			}
			for _, m := range b.Nodes {
				if other := r.find(r.numberOf(m)); other >= 0 && other != o && !slices.Contains(ties[o], other) {
					ties[o] = append(ties[o], other)
				}
			}
		}
	}
	return ties
}

// find returns which output a node is, by its number; -1 if it is none.
func (r *request) find(number int32) int {
	if number < 0 || int(number) >= len(r.at) {
		return -1
	}
	return int(r.at[number]) - 1
}

// mark marks what was computed, so that it is stored if it is computed again.
// Two kinds of elements are not worth it: those that go into reductions only,
// and those of which there are far more than of what they are made of, unless
// they are computed a second time, as by a loop that looks at what it makes. The
// products within a product of matrices are both.
func (r *request) mark() {
	for i, n := range r.nodes {
		class := n.Op.Class()
		made := 0
		for _, s := range r.src[i] {
			from := r.number[s]
			made = min(made+r.made[from], math.MaxInt32)
			r.used[from] = r.used[from] || class != ir.Reduction
		}
		switch {
		case r.leaf[i] >= 0:
			made = r.leaves[r.leaf[i]].stored()
		case class == ir.Reduction, class == ir.Indexed, n.Op == ir.Iota:
			made = n.Len()
		}
		r.made, r.used = append(r.made, made), append(r.used, false)
	}
	for i, n := range r.nodes {
		switch n.Op.Class() {
		case ir.Reduction, ir.Indexed:
			n.MarkComputed()
		case ir.Elementwise:
			if r.used[i] && (r.made[i] == 0 || n.Len() <= 2*r.made[i] || n.Pass()) {
				n.MarkComputed()
			}
		}
	}
}

// stored is how many elements there are of which the leaf's are repetitions.
func (l *leaf) stored() int {
	n := 1
	for i, d := range l.shape {
		if l.view.Strides[i] != 0 {
			n *= d
		}
	}
	return n
}

// graph builds the nodes to compile: private ones, which hold no data.
func (r *request) graph() []*graph.Node {
	nodes := make([]*graph.Node, len(r.nodes))
	scalars := 0
	for i, n := range r.nodes {
		switch {
		case r.leaf[i] >= 0:
			l := &r.leaves[r.leaf[i]]
			ints := []int{l.align()}
			for k, s := range l.view.Strides {
				if l.shape[k] == 1 {
					s = 0
				}
				ints = append(ints, s)
			}
			nodes[i] = graph.Leaf(l.dtype, l.shape, int(r.leaf[i]), ints)
		case n.Op == ir.Scalar:
			nodes[i] = graph.Param(n.DType, n.Shape, scalars)
			scalars++
		default:
			private := make([]*graph.Node, len(r.src[i]))
			for k, s := range r.src[i] {
				private[k] = nodes[r.number[s]]
			}
			nodes[i] = graph.WithOperands(n, private...)
			nodes[i].Number = i
		}
	}
	roots := make([]*graph.Node, len(r.outputs))
	for i, o := range r.outputs {
		roots[i] = nodes[o.number]
	}
	return roots
}
