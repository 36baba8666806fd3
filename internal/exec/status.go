package exec

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An IndexError is an index in a tensor that was out of range.
type IndexError struct {
	Site  *graph.IndexSite // nil if it is not known
	Index int64            // as the program gave it, if the site is known
	Len   int              // of the axis
	Place []int            // of the index in its tensor; nil if it is not known
}

func (e *IndexError) Error() string {
	text, of := "index", "an axis of length %d"
	if e.Site != nil {
		text, of = e.Site.Op+": "+e.Site.Noun, e.Site.Of
	}
	text += fmt.Sprint(" ", e.Index)
	if len(e.Place) > 0 {
		text += fmt.Sprint(" at ", e.Place)
	}
	return text + " is out of range for " + fmt.Sprintf(of, e.Len)
}

// reportBytes is the size of a check's report.
const reportBytes = 4 * ir.StatusLen

// leastChecks is the least number of checks that the reports have room for.
const leastChecks = 1 << 12

// status is a device's reports of bad indices, one for each step that checks
// some, handed out in turn. A device that runs ahead of its caller is asked for
// them at the next read of a value, and when there is no room for more.
type status struct {
	buffer  driver.Buffer
	checks  int // that the buffer has room for
	next    int
	pending []*run
	// transactions is how many pending runs have fallbacks: their reports are read
	// with the next value, so that a failed step is told of soon.
	transactions int
	// missed is the first failed transaction of which nobody has read anything
	// that failed.
	missed *run
}

// A run is one execution of a plan that may turn out to have met a bad index,
// itself or in what it used.
type run struct {
	plan      *plan
	first     int // number of its first check
	origins   []indexOrigin
	leaves    []origin // of the plan's leaves those that are pending
	fallbacks []int    // buffers that hold their fallback if a check fails

	// To be read once done: the first failure, and the buffers that depend on
	// one, nil if all do.
	err  error
	bad  []bool
	told atomic.Bool // err was returned to somebody
	done atomic.Bool
}

// An indexOrigin is where an index that a run checks comes from.
type indexOrigin struct {
	site    *graph.IndexSite
	shape   []int // of the leaf that it is loaded from, if it is one
	strides []int
}

// An origin is where a store's elements come from. A run that is pending has
// those of what it used: the stores themselves would keep the memory of all that
// was computed since the last look at reports.
type origin struct {
	run     *run // that computed them, if it may have met a bad index
	buffer  int  // of the run's plan
	stretch *stretch
}

// fail is why the elements are worthless; nil if they are not, as far as that
// is known.
func (o origin) fail() error {
	if err := o.failed(); err != nil {
		o.run.told.Store(true)
		return err
	}
	return o.stretch.fail()
}

// failed is the bad index that the elements depend on, as far as that is known.
func (o origin) failed() error {
	if r := o.run; r != nil && r.done.Load() && r.err != nil && (r.bad == nil || r.bad[o.buffer]) {
		return r.err
	}
	return nil
}

// pending reports whether the elements may yet turn out to have failed.
func (o origin) pending() bool { return o.run != nil && !o.run.done.Load() }

// begin returns the run of a plan that checks indices, or uses what pending
// runs computed; nil for others. The caller holds d.mu.
func (d *Device) begin(p *plan, r *request) (*run, error) {
	s := &d.status
	out := &run{plan: p}
	for i := range r.leaves {
		if leaf := r.leaves[i].value.Store.(*store); leaf.pending() {
			if out.leaves == nil {
				out.leaves = make([]origin, len(r.leaves))
			}
			out.leaves[i] = leaf.origin
		}
	}
	checks := p.compiled.Checks
	if checks == 0 && out.leaves == nil {
		return nil, nil
	}
	if s.next+checks > s.checks || len(s.pending) >= s.checks {
		if err := d.resolve(); err != nil {
			return nil, err
		}
		if err := d.room(checks); err != nil {
			return nil, err
		}
	}
	out.origins = r.origins(p.compiled)
	if p.compiled.FallsBack {
		for _, f := range r.fallbacks {
			if o := p.compiled.Outputs[f.Output]; !o.Leaf {
				out.fallbacks = append(out.fallbacks, o.Index)
			}
		}
		s.transactions++
	}
	out.first = s.next
	s.next += checks
	s.pending = append(s.pending, out)
	return out, nil
}

// origins lists where the indices of a plan come from, in the order of its steps
// and their instructions.
func (r *request) origins(p *compile.Plan) []indexOrigin {
	var list []indexOrigin
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, x := range s.Indices {
			o := indexOrigin{site: r.nodes[x.Node].Site}
			if x.Load >= 0 {
				if a := s.Args[s.Kernel.Body[x.Load].Arg]; a.Leaf {
					l := &r.leaves[a.Index]
					o.shape, o.strides = l.shape, l.view.Strides
				}
			}
			list = append(list, o)
		}
	}
	return list
}

// room makes the status's buffer, which nothing uses, have room for so many
// checks. The caller holds d.mu.
func (d *Device) room(checks int) error {
	s := &d.status
	if checks = max(checks, leastChecks); checks <= s.checks {
		return nil
	}
	b, err := d.drv.Alloc(reportBytes * checks)
	if err != nil {
		return err
	}
	if err := d.drv.Upload(b, 0, make([]byte, reportBytes*checks)); err != nil {
		b.Free()
		return err
	}
	if s.buffer != nil {
		s.buffer.Free()
	}
	s.buffer, s.checks = b, checks
	return nil
}

// resolve reads the reports of the pending runs. The caller holds d.mu.
func (d *Device) resolve() error {
	s := &d.status
	if len(s.pending) == 0 {
		return nil
	}
	reports := make([]byte, reportBytes*s.next)
	if err := d.download(reports, s.buffer, 0); err != nil {
		return err
	}
	found := false
	for _, r := range s.pending {
		transaction := r.fallbacks != nil
		r.finish(reports)
		if r.err != nil {
			found = true
			if transaction && s.missed == nil {
				s.missed = r
			}
		}
	}
	s.pending = s.pending[:0]
	s.next, s.transactions = 0, 0
	if !found {
		return nil
	}
	clear(reports)
	return d.drv.Upload(s.buffer, 0, reports)
}

// missed returns the failure of an earlier transaction, once, if nobody has
// read what failed with it.
func (d *Device) missed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.status.missed
	d.status.missed = nil
	if r == nil || r.told.Swap(true) {
		return nil
	}
	return r.err
}

// finish finds out which buffers depend on a bad index.
func (r *run) finish(reports []byte) {
	p := r.plan.compiled
	r.bad = make([]bool, len(p.Buffers))
	origins := r.origins
	for i := range p.Steps {
		s := &p.Steps[i]
		r.step(s, r.report(s, origins, reports))
		origins = origins[len(s.Indices):]
	}
	r.plan.spread(r.bad)
	for _, b := range r.fallbacks {
		r.bad[b] = false
	}
	r.plan, r.origins, r.leaves, r.fallbacks = nil, nil, nil, nil
	r.done.Store(true)
}

// spread marks as bad the outputs that depend on others which are (see ties).
func (p *plan) spread(bad []bool) {
	for o, from := range p.ties {
		for _, other := range from {
			if x, y := p.compiled.Outputs[o], p.compiled.Outputs[other]; !x.Leaf && !y.Leaf && bad[y.Index] {
				bad[x.Index] = true
			}
		}
	}
}

// step follows failures through a step with a report, or nil: from the
// instructions that use an index, of which only the first to fail is known,
// and from arguments that failed, to what it writes.
func (r *run) step(s *compile.Step, report error) {
	failed := make([]error, len(s.Args)) // of arguments
	some := report != nil
	for k, a := range s.Args {
		switch {
		case a.Kind != ir.In || a.Report:
		case !a.Leaf && r.bad[a.Index]:
			failed[k] = r.err
		case a.Leaf && r.leaves != nil && r.leaves[a.Index].run != nil:
			if failed[k] = r.leaves[a.Index].failed(); failed[k] == nil {
				failed[k] = r.leaves[a.Index].stretch.fail()
			}
		}
		some = some || failed[k] != nil
	}
	if !some {
		return
	}
	values := make([]error, len(s.Kernel.Body))
	for k := range s.Kernel.Body {
		in := &s.Kernel.Body[k]
		var err error
		if in.Op == ir.Load {
			err = failed[in.Arg]
		}
		for _, src := range in.Src {
			if values[src] != nil {
				err = values[src]
			}
		}
		if in.Op == ir.Scatter && err == nil {
			err = failed[1] // the base
		}
		if in.UsesIndex() && err == nil {
			err = report
		}
		values[k] = err
		if err == nil || in.Op != ir.Store && in.Op != ir.Scatter {
			continue
		}
		r.bad[s.Args[in.Arg].Index] = true
		if r.err == nil {
			r.err = err
		}
	}
}

// report returns the bad index that a step reports, if any. Origins begins with
// those of the step's indices.
func (r *run) report(s *compile.Step, origins []indexOrigin, reports []byte) error {
	k := slices.IndexFunc(s.Args, func(a compile.Arg) bool { return a.Kind == ir.Status })
	if k < 0 {
		return nil
	}
	report := reports[reportBytes*(r.first+s.Args[k].Index):]
	word := func(i int) int { return int(binary.LittleEndian.Uint64(report[8*i:])) }
	if word(0) == 0 {
		return nil
	}
	instr, index, position := word(0)-1, int64(word(1)), word(2)
	e := &IndexError{Index: index, Len: s.Kernel.Body[instr].View.Len}
	i := slices.IndexFunc(s.Indices, func(x compile.Index) bool { return x.Instr == instr })
	if i < 0 || origins[i].site == nil {
		return e
	}
	o := &origins[i]
	e.Site = o.site
	if o.site.FromEnd && index < 0 {
		e.Index -= int64(e.Len)
	}
	if load := s.Indices[i].Load; load >= 0 {
		in := &s.Kernel.Body[load]
		element := s.Args[in.Arg].Offset + in.View.Off
		for a, at := range s.Kernel.CheckPoint(position) {
			element += in.View.Coef[a] * at
		}
		n := -1
		if a := s.Args[in.Arg]; !a.Leaf {
			n = r.plan.compiled.Buffers[a.Index].Len
		}
		e.Place = o.place(element, n)
	}
	return e
}

// place is the position in the program's tensor of indices of an element of the
// leaf that they are loaded from or, if n is not negative, of a row-major buffer
// of n elements. It is nil unless the two have as many elements.
func (o *indexOrigin) place(element, n int) []int {
	if n < 0 {
		element, n = rowMajor(element, o.shape, o.strides)
	}
	if n != graph.Len(o.site.Shape) || element < 0 || element >= n {
		return nil
	}
	place := make([]int, len(o.site.Shape))
	for a, stride := range shape.RowMajor(o.site.Shape) {
		if stride > 0 {
			place[a] = element / stride % o.site.Shape[a]
		}
	}
	return place
}

// rowMajor is the row-major number of an element at that distance from the first
// of a view, among the n elements that the view does not repeat; -1 if it is none.
func rowMajor(distance int, dims, strides []int) (number, n int) {
	var axes []int
	n = 1
	for a, s := range strides {
		if dims[a] == 1 || s == 0 {
			continue
		}
		axes = append(axes, a)
		n *= dims[a]
		if s < 0 {
			distance -= s * (dims[a] - 1) // counted from the lowest element
		}
	}
	step := make([]int, len(dims)) // in row-major order
	for i, at := len(axes)-1, 1; i >= 0; i-- {
		step[axes[i]], at = at, at*dims[axes[i]]
	}
	slices.SortFunc(axes, func(a, b int) int { return max(strides[b], -strides[b]) - max(strides[a], -strides[a]) })
	for _, a := range axes {
		s := max(strides[a], -strides[a])
		at := distance / s
		if distance -= at * s; at >= dims[a] || at < 0 {
			return -1, n
		}
		if strides[a] < 0 {
			at = dims[a] - 1 - at
		}
		number += at * step[a]
	}
	if distance != 0 {
		return -1, n
	}
	return number, n
}
