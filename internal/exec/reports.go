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
	// transactions is how many pending runs are transactions: their reports are read
	// with the next value, so that their failures are known soon.
	transactions int
	unreported   *failure // the first of a transaction
}

// A failure is a bad index that a run met. What depends on it shares it.
type failure struct {
	err      error
	reported *atomic.Bool // to somebody who read what depends on it
}

func newFailure(err error) *failure { return &failure{err, new(atomic.Bool)} }

// report returns the failure's error, nil for none.
func (f *failure) report() error {
	if f == nil {
		return nil
	}
	f.reported.Store(true)
	return f.err
}

// A run is one execution of a plan that may turn out to have met a bad index,
// itself or in what it used.
type run struct {
	plan        *plan
	first       int // number of its first check
	sites       []*graph.IndexSite
	leaves      []origin // of the plan's leaves those that are pending
	transaction bool
	fallbacks   []bool // of a buffer, whether it holds its fallback if a check fails; nil if none does

	// To be read once done: the first failure, and the buffers that depend on
	// one, nil if all do.
	failure *failure
	bad     []bool
	done    atomic.Bool
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
	if err := o.failure().report(); err != nil {
		return err
	}
	return o.stretch.fail()
}

// failure is the bad index that the elements depend on, as far as that is known.
func (o origin) failure() *failure {
	if r := o.run; r != nil && r.done.Load() && r.failure != nil && (r.bad == nil || r.bad[o.buffer]) {
		return r.failure
	}
	return nil
}

// pending reports whether the elements may yet turn out to have failed.
func (o origin) pending() bool { return o.run != nil && !o.run.done.Load() }

// begin returns the run of a plan that checks indices, or uses what pending
// runs computed; nil for others. The caller holds d.mu.
func (d *Device) begin(p *plan, r *request) (*run, error) {
	s := &d.status
	out := &run{plan: p, transaction: len(r.old) > 0}
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
	out.sites = r.sites(p.compiled)
	if p.compiled.FallsBack {
		out.fallbacks = make([]bool, len(p.compiled.Buffers))
		for _, f := range r.fallbacks {
			if o := p.compiled.Outputs[f.Output]; !o.Leaf {
				out.fallbacks[o.Index] = true
			}
		}
	}
	if out.transaction {
		s.transactions++
	}
	out.first = s.next
	s.next += checks
	s.pending = append(s.pending, out)
	return out, nil
}

// sites lists the calls that use a plan's indices, in the order of its steps and
// their instructions.
func (r *request) sites(p *compile.Plan) []*graph.IndexSite {
	var list []*graph.IndexSite
	for i := range p.Steps {
		for _, x := range p.Steps[i].Indices {
			list = append(list, r.nodes[x.Node].Site)
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
		r.finish(reports)
		if r.failure != nil {
			found = true
			if r.transaction && (s.unreported == nil || s.unreported.reported.Load()) {
				s.unreported = r.failure
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

// unreported returns the failure of a transaction that nobody has read yet.
func (d *Device) unreported() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.status.unreported
	d.status.unreported = nil
	if f == nil || f.reported.Load() {
		return nil
	}
	return f.report()
}

// finish finds out which buffers depend on a bad index.
func (r *run) finish(reports []byte) {
	p := r.plan.compiled
	r.bad = make([]bool, len(p.Buffers))
	sites := r.sites
	for i := range p.Steps {
		s := &p.Steps[i]
		r.step(s, r.read(s, sites, reports))
		sites = sites[len(s.Indices):]
	}
	r.plan.spread(r.bad)
	for b, falls := range r.fallbacks {
		r.bad[b] = r.bad[b] && !falls
	}
	r.plan, r.sites, r.leaves, r.fallbacks = nil, nil, nil, nil
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
func (r *run) step(s *compile.Step, report *failure) {
	failed := make([]*failure, len(s.Args)) // of arguments
	some := report != nil
	for k, a := range s.Args {
		switch {
		case a.Kind != ir.In || a.Report:
		case !a.Leaf && r.bad[a.Index]:
			failed[k] = r.failure
		case a.Leaf && r.leaves != nil && r.leaves[a.Index].run != nil:
			leaf := &r.leaves[a.Index]
			if failed[k] = leaf.failure(); failed[k] == nil && leaf.stretch.fail() != nil {
				failed[k] = newFailure(leaf.stretch.fail())
			}
		}
		some = some || failed[k] != nil
	}
	if !some {
		return
	}
	values := make([]*failure, len(s.Kernel.Body))
	for k := range s.Kernel.Body {
		in := &s.Kernel.Body[k]
		var f *failure
		if in.Op == ir.Load {
			f = failed[in.Arg]
		}
		for _, src := range in.Src {
			if values[src] != nil {
				f = values[src]
			}
		}
		if in.Op == ir.Scatter && f == nil {
			f = failed[1] // the base
		}
		if in.UsesIndex() && f == nil {
			f = report
		}
		values[k] = f
		if f == nil || in.Op != ir.Store && in.Op != ir.Scatter {
			continue
		}
		r.bad[s.Args[in.Arg].Index] = true
		if r.failure == nil {
			r.failure = f
		}
	}
}

// read returns the bad index that a step reports, if any. Sites begins with those of
// the step's indices.
func (r *run) read(s *compile.Step, sites []*graph.IndexSite, reports []byte) *failure {
	check := s.Check()
	if check < 0 {
		return nil
	}
	report := reports[reportBytes*(r.first+check):]
	word := func(i int) int { return int(binary.LittleEndian.Uint64(report[8*i:])) }
	if word(0) == 0 {
		return nil
	}
	instr, index, position := word(0)-1, int64(word(1)), word(2)
	e := &IndexError{Index: index, Len: s.Kernel.Body[instr].View.Len}
	f := newFailure(e)
	i := slices.IndexFunc(s.Indices, func(x compile.Index) bool { return x.Instr == instr })
	if i >= 0 && sites[i] != nil {
		e.Site, f.reported = sites[i], &sites[i].Reported
		if e.Site.FromEnd && index < 0 {
			e.Index -= int64(e.Len)
		}
		e.Place = place(&s.Indices[i], s.Kernel, position, e.Site.Shape)
	}
	return f
}

// place is where, in a tensor of that shape, an index is that was reported at a
// position; nil if it is not known.
func place(x *compile.Index, k *ir.Kernel, position int, dims []int) []int {
	if x.Element == nil || x.Len != graph.Len(dims) {
		return nil
	}
	element := x.Element.Off
	for a, at := range k.CheckPoint(position) {
		element += x.Element.Coef[a] * at
	}
	at := make([]int, len(dims))
	for a, stride := range shape.RowMajor(dims) {
		if stride > 0 && dims[a] > 0 {
			at[a] = element / stride % dims[a]
		}
	}
	return at
}
