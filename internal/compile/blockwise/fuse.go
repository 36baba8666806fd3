// Package blockwise makes loops over blocks of rows of the kernels of a plan that pass scores to each
// other, as attention's do. Package kernelize has kernels of attention for devices that run them; loops
// are for the rest. Read fuse.go first.
package blockwise

import (
	"iter"
	"slices"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// The limits of loops.
const (
	// maxDepth is the greatest depth of a contraction that computes scores, which tells heads of attention, of at most
	// 256 elements in published models, from layers, such as those with a row of logits for each token: there each block
	// would read a whole weight, and add to a whole gradient of it.
	maxDepth = 256
	// minParts is the number of parts that all rows together are cut into, if blocks add
	// to a result. There are fewer if there are few blocks or little memory.
	minParts = 8
	// minUnits is the least height of a block, in units of LoopLimits.Rows, however long
	// the rows are: each block reads a whole factor of the products.
	minUnits = 4
	// minMatrix is the least number of rows of a matrix.
	minMatrix = 16
)

// Fuse makes loops of the steps that pass scores to each other: matrices that a
// contraction computes, a reduction reads row by row and another contraction multiplies,
// as in attention. A loop computes them for a few rows at a time, so that they stay in the
// cache and the plan has no buffer for them. Later loops that read scores compute them
// again, as the backward pass does with the scores of the forward pass.
//
// Bindings is the most buffers a kernel may have, 0 for no limit.
func Fuse(p *compile.Plan, limits ir.LoopLimits, bindings int) error {
	tried := map[*ir.Kernel]bool{}
	for {
		f := &fuser{p: p, limits: limits, bindings: bindings}
		if !f.next(tried) {
			return nil
		}
		if err := p.Reorder(); err != nil {
			return err
		}
	}
}

// A fuser makes the loops of one family of scores.
type fuser struct {
	p        *compile.Plan
	limits   ir.LoopLimits
	bindings int
	writers  [][]int // of a buffer: steps
	readers  [][]int
	kept     []bool // by buffer: it is an output

	rows, columns int              // of the scores
	scores        map[int]bool     // buffers
	members       map[int]*member  // by step
	newBuffers    []compile.Buffer // of the loops, added to the plan's
	loops         []*loop          // in the order in which they run
}

// A member is a step that reads or writes scores.
type member struct {
	rows
	generation int          // the loop that it is in
	adds       bool         // all blocks of a matrix add to its result
	afterSum   map[int]bool // buffers that are read only by instructions after the sum
}

// next fuses the next scores that are worth it. It reports false when none are left.
func (f *fuser) next(tried map[*ir.Kernel]bool) bool {
	for i := range f.p.Steps {
		s := &f.p.Steps[i]
		k := s.Kernel
		if k == nil || k.Template != ir.Reduce || tried[k] {
			continue
		}
		f.columns = loopnest.Size(k, k.Roles(ir.Reduced))
		if f.limits.Columns == 0 || f.columns < f.limits.Columns {
			continue
		}
		tried[k] = true
		if f.writers == nil {
			f.index()
		}
		if f.seed(s) && f.join(i) {
			f.split()
			if f.build() {
				return true
			}
		}
	}
	return false
}

// index notes the steps that read and write each buffer.
func (f *fuser) index() {
	n := len(f.p.Buffers)
	f.writers, f.readers, f.kept = make([][]int, n), make([][]int, n), make([]bool, n)
	for i := range f.p.Steps {
		for b := range f.p.Steps[i].Buffers(ir.Out) {
			f.writers[b] = append(f.writers[b], i)
		}
		for b := range f.p.Steps[i].Buffers(ir.In) {
			f.readers[b] = append(f.readers[b], i)
		}
	}
	for _, o := range f.p.Outputs {
		if !o.Leaf {
			f.kept[o.Index] = true
		}
	}
}

// seed reports whether a reduction reads the result of a contraction, large enough for a
// loop, and sets the number of rows.
func (f *fuser) seed(s *compile.Step) bool {
	for b := range s.Buffers(ir.In) {
		if w := f.writers[b]; len(w) != 1 || !isShallow(&f.p.Steps[w[0]]) {
			continue
		}
		f.rows = f.p.Buffers[b].Len / max(1, f.columns)
		if f.p.Buffers[b].Len == f.rows*f.columns && f.rows > 1 && f.p.Buffers[b].Bytes() >= f.limits.Scores {
			f.scores = map[int]bool{}
			f.findScores(b)
			return true
		}
	}
	return false
}

// findScores finds the buffers that kernels read and write as they do a buffer of scores. The
// size alone does not tell scores from factors and results where a head is as wide as rows are
// long.
func (f *fuser) findScores(b int) {
	f.scores[b] = true
	for _, i := range slices.Concat(f.writers[b], f.readers[b]) {
		for x, v := range f.accesses(i) {
			for y, w := range f.accesses(i) {
				if x == b && !f.scores[y] && len(f.writers[y]) == 1 && f.p.Buffers[y].Len == f.rows*f.columns && slices.Equal(v.Coef, w.Coef) {
					f.findScores(y)
				}
			}
		}
	}
}

// accesses yields the buffers that instructions of a step's kernel load and store, with their views.
func (f *fuser) accesses(step int) iter.Seq2[int, *ir.View] {
	return func(yield func(int, *ir.View) bool) {
		s := &f.p.Steps[step]
		for k := 0; s.Kernel != nil && k < len(s.Kernel.Body); k++ {
			in := &s.Kernel.Body[k]
			if (in.Op == ir.Load || in.Op == ir.Store) && s.Args[in.Arg].IsBuffer() && !yield(s.Args[in.Arg].Index, in.View) {
				return
			}
		}
	}
}

// isShallow reports whether a step is a contraction that is cheap enough to compute again.
func isShallow(s *compile.Step) bool {
	k := s.Kernel
	return k != nil && k.Template == ir.Contraction && loopnest.Size(k, k.Roles(ir.K)) <= maxDepth
}

// join finds the members: step i, and all steps that share scores with a member. A step
// that does not compute row by row is no member; the scores that it reads are stored. join
// reports false if step i is no member, or if no contraction reads scores without writing
// any.
func (f *fuser) join(i int) bool {
	f.members = map[int]*member{}
	seen, queue := map[int]bool{i: true}, []int{i}
	shrinks := false
	for len(queue) > 0 {
		i, queue = queue[0], queue[1:]
		s := &f.p.Steps[i]
		m := f.member(s, func(b int) bool { return f.scores[b] })
		if m == nil {
			continue
		}
		f.members[i] = m
		writes := false
		for _, kind := range []ir.ArgKind{ir.In, ir.Out} {
			for b := range s.Buffers(kind) {
				if !f.scores[b] {
					continue
				}
				writes = writes || kind == ir.Out
				for _, j := range slices.Concat(f.writers[b], f.readers[b]) {
					if !seen[j] {
						seen[j] = true
						queue = append(queue, j)
					}
				}
			}
		}
		shrinks = shrinks || !writes && s.Kernel.Template == ir.Contraction
	}
	return shrinks
}

// member returns how a step computes row by row; nil if it does not. aligned reports
// whether a buffer has an equal number of elements for each row.
func (f *fuser) member(s *compile.Step, aligned func(b int) bool) *member {
	k := s.Kernel
	if k == nil || k.Template == ir.Routine {
		return nil
	}
	length := make([]int, len(s.Args))
	for i, a := range s.Args {
		switch {
		case a.Kind == ir.Status || a.Report:
			return nil
		case a.Kind == ir.Value || a.Leaf || !aligned(a.Index):
		case a.Offset != 0:
			return nil
		default:
			length[i] = f.buffer(a.Index).Len / f.rows
		}
	}
	r, ok := rowsOf(k, f.rows, length)
	if !ok {
		return nil
	}
	m := &member{rows: r}
	reduced := k.Roles(ir.Reduced, ir.K)
	m.adds = reduced.Has(r.inner)
	for a, stride := range r.stride {
		if stride > 0 && reduced.Has(a) && !(m.adds && k.Template == ir.Contraction) {
			return nil
		}
	}
	if m.adds {
		m.afterSum = map[int]bool{}
		early := inputs(s, sumOf(k))
		for b := range s.Buffers(ir.In) {
			m.afterSum[b] = !early[b]
		}
	}
	return m
}

// split assigns the members to loops. Steps that run after a loop, and sums over the blocks
// of a loop, have results only when it has ended: the members that read these are in a later
// loop. Instructions that follow a sum in its kernel, such as the addition of another
// gradient, are computed after the loop, and so may read results of that loop or a later
// one.
func (f *fuser) split() {
	after := make([]int, len(f.p.Steps)) // the first loop that may need a step's results
	last := 0
	for i := range f.p.Steps {
		m := f.members[i]
		g, late := 0, 0
		for b := range f.p.Steps[i].Buffers(ir.In) {
			for _, w := range f.writers[b] {
				switch writer := f.members[w]; {
				case m != nil && m.afterSum[b]:
					late = max(late, after[w])
				case m != nil && writer != nil && !writer.adds:
					g = max(g, writer.generation)
				default:
					g = max(g, after[w])
				}
			}
		}
		after[i] = g
		if m != nil {
			m.generation = g
			last = max(last, g)
			after[i] = max(g+1, late)
		}
	}
	f.loops, f.newBuffers = nil, nil
	for range last + 1 {
		f.loops = append(f.loops, &loop{fuser: f, renamed: map[int]int{}})
	}
	for i := range f.p.Steps {
		if m := f.members[i]; m != nil {
			f.loops[m.generation].add(i, m, false)
		}
	}
}

// newBuffer adds a buffer and returns its number.
func (f *fuser) newBuffer(b compile.Buffer) int {
	f.newBuffers = append(f.newBuffers, b)
	return len(f.p.Buffers) + len(f.newBuffers) - 1
}

func (f *fuser) buffer(i int) *compile.Buffer {
	if n := len(f.p.Buffers); i >= n {
		return &f.newBuffers[i-n]
	}
	return &f.p.Buffers[i]
}
