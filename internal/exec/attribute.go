package exec

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
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
	Site  *graph.IndexSite // nil if unknown
	Index int64            // as the program gave it, if the site is known
	Len   int              // of the axis
	Place []int            // position of the index in its tensor; nil if unknown
}

func (e *IndexError) Error() string {
	text, of := "index", "an axis of length %d"
	if e.Site != nil {
		text, of = e.Site.Op+": "+e.Site.Noun, e.Site.Of
	}
	invalid := e.Site != nil && e.Site.Fault != ""
	if !invalid {
		text += fmt.Sprint(" ", e.Index)
	}
	if len(e.Place) > 0 {
		text += fmt.Sprint(" at ", e.Place)
	}
	if invalid {
		return text + " " + e.Site.Fault
	}
	return text + " is out of range for " + fmt.Sprintf(of, e.Len)
}

// A fault is the failure of an execution. The values that depend on it share it.
type fault struct {
	err      error
	reported *atomic.Bool // to a reader of such a value
}

func newFault(err error) *fault { return &fault{err, new(atomic.Bool)} }

// report returns the fault's error and notes that it was read; nil for no fault.
func (f *fault) report() error {
	if f == nil {
		return nil
	}
	f.reported.Store(true)
	return f.err
}

// An execution is one run of a plan that may have met a bad index, itself or
// through its leaves. It is pending until its reports are read.
type execution struct {
	plan        *loadedPlan
	reports     driver.Buffer
	own         pooled             // has the reports, if they are not in Device.reports
	firstCheck  int                // in reports
	sites       []*graph.IndexSite // of the indices of the plan's steps, in order
	leaves      []origin           // of the pending leaves; nil if there are none
	transaction bool
	whole       bool // all results depend on each fault: the plan is the body of a recurrence

	// Set before done:
	fault *fault // the first; nil if there was none
	bad   []bool // by buffer: whether it depends on a fault; nil if all do
	done  atomic.Bool
}

// An origin says where stored elements come from. Pending executions hold the
// origins of their leaves and not the storages, which would keep all memory in use
// until the next read of reports.
type origin struct {
	exec   *execution // that computed them and may have met a bad index; nil for others
	buffer int        // of the execution's plan
	epoch  *syncEpoch // in which they were written
}

// failed returns the error that makes the elements invalid, nil if none is known. The
// error counts as reported.
func (o origin) failed() error {
	if err := o.fault().report(); err != nil {
		return err
	}
	return o.epoch.failed()
}

// fault is the fault that the elements depend on, nil if none is known.
func (o origin) fault() *fault {
	if x := o.exec; x != nil && x.done.Load() && x.fault != nil && (x.bad == nil || x.bad[o.buffer]) {
		return x.fault
	}
	return nil
}

// pending reports whether the elements may turn out to be invalid.
func (o origin) pending() bool { return o.exec != nil && !o.exec.done.Load() }

// mayFail reports whether a buffer may turn out to depend on a bad index.
func (x *execution) mayFail(p *loadedPlan, buffer int) bool {
	return (p.mayFail[buffer] || x.leaves != nil) && !p.fallsBack[buffer]
}

// attribute ends the execution: it marks the buffers that depend on reported bad indices.
func (x *execution) attribute(reports []byte) {
	if x.leaves != nil || x.hasReport(reports) {
		x.findBad(reports)
	}
	x.plan, x.sites, x.leaves = nil, nil, nil
	x.settle()
}

// hasReport reports whether a step reports a bad index.
func (x *execution) hasReport(reports []byte) bool {
	first, n := reportBytes*x.firstCheck, reportBytes*x.plan.compiled.Checks
	return slices.ContainsFunc(reports[first:first+n], func(b byte) bool { return b != 0 })
}

// findBad sets fault and bad.
func (x *execution) findBad(reports []byte) {
	p := x.plan.compiled
	x.bad = make([]bool, len(p.Buffers))
	sites := x.sites
	for i := range p.Steps {
		s := &p.Steps[i]
		x.propagate(s, x.reported(s, sites, reports))
		sites = sites[len(s.Indices):]
	}
	x.plan.failDependents(x.bad)
	for b, falls := range x.plan.fallsBack {
		x.bad[b] = x.bad[b] && !falls
	}
	if x.whole {
		x.bad = nil
	}
}

// propagate marks as bad the buffers that a step writes from bad ones or, given the
// fault that it reports, from an index. A step reports its first bad index only, so
// all its indices count as bad.
func (x *execution) propagate(s *compile.Step, reported *fault) {
	if reported == nil && x.fault == nil && x.leaves == nil {
		return // nothing is bad so far
	}
	for i := range s.Stages {
		x.propagate(&s.Stages[i], nil)
	}
	if s.Loop != nil {
		return
	}
	args := make([]*fault, len(s.Args))
	some := reported != nil
	for k, a := range s.Args {
		switch {
		case a.Kind != ir.In || a.Report:
		case !a.Leaf && x.bad[a.Index]:
			args[k] = x.fault
		case a.Leaf && x.leaves != nil && x.leaves[a.Index].exec != nil:
			o := &x.leaves[a.Index]
			if args[k] = o.fault(); args[k] == nil && o.epoch.failed() != nil {
				args[k] = newFault(o.epoch.failed())
			}
		}
		some = some || args[k] != nil
	}
	if !some {
		return
	}
	values := make([]*fault, len(s.Kernel.Body))
	for k := range s.Kernel.Body {
		in := &s.Kernel.Body[k]
		var f *fault
		if in.Op == ir.Load {
			f = args[in.Arg]
		}
		for _, src := range in.Src {
			f = cmp.Or(values[src], f)
		}
		routine := ir.Routines[in.Op]
		if routine != nil {
			for _, arg := range routine.Whole(s.Kernel) {
				f = cmp.Or(f, args[arg])
			}
		}
		if in.UsesIndex() {
			f = cmp.Or(f, reported)
		}
		values[k] = f
		if f == nil || in.Op != ir.Store && routine == nil {
			continue
		}
		x.bad[s.Args[in.Arg].Index] = true
		if x.fault == nil {
			x.fault = f
		}
	}
}

// reported returns the bad index that a step reports, nil for none. The sites of the
// step's indices come first in sites.
func (x *execution) reported(s *compile.Step, sites []*graph.IndexSite, reports []byte) *fault {
	check := s.Check()
	if check < 0 {
		return nil
	}
	report := reports[reportBytes*(x.firstCheck+check):]
	word := func(i int) int { return int(binary.LittleEndian.Uint64(report[8*i:])) }
	if word(0) == 0 {
		return nil
	}
	instr, index, position := word(0)-1, int64(word(1)), word(2)
	e := &IndexError{Index: index, Len: s.Kernel.Body[instr].View.Len}
	f := newFault(e)
	i := slices.IndexFunc(s.Indices, func(index compile.Index) bool { return index.Instr == instr })
	if i >= 0 && sites[i] != nil {
		e.Site, f.reported = sites[i], &sites[i].Reported
		if e.Site.FromEnd && index < 0 {
			e.Index -= int64(e.Len)
		}
		e.Place = locate(&s.Indices[i], s.Kernel, position, e.Site.Shape)
	}
	return f
}

// locate returns the position of a reported index in its tensor, of the given
// shape; nil if it is unknown.
func locate(x *compile.Index, k *ir.Kernel, position int, dims []int) []int {
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

// dependencies are the outputs whose failures others share: those of the CoOutputs of the nodes that an
// output is computed from.
type dependencies struct {
	members [][]int // by CoOutputs: the outputs in it
	needs   [][]int // by output: CoOutputs
}

func (c *capture) dependencies() (d dependencies) {
	if len(c.dependents) == 0 {
		return d
	}
	words := (len(c.coOutputs) + 63) / 64
	sets := make([]uint64, words*len(c.nodes)) // by node: the CoOutputs that it depends on
	set := func(i int32) []uint64 { return sets[words*int(i):][:words] }
	for _, b := range c.dependents {
		set(b.number)[b.coOutputs/64] |= 1 << (b.coOutputs % 64)
	}
	for i := range c.nodes {
		for _, s := range c.src(&c.nodes[i]) {
			for w, x := range set(s) {
				sets[words*i+w] |= x
			}
		}
	}
	d = dependencies{make([][]int, len(c.coOutputs)), make([][]int, len(c.outputs))}
	for k, b := range c.coOutputs {
		for _, m := range b.Nodes {
			if o := c.outputOf(m); o >= 0 {
				d.members[k] = append(d.members[k], o)
			}
		}
	}
	for o := range c.outputs {
		for w, x := range set(c.outputs[o].number) {
			for ; x != 0; x &= x - 1 {
				d.needs[o] = append(d.needs[o], 64*w+bits.TrailingZeros64(x))
			}
		}
	}
	return d
}

// failDependents marks as bad the outputs that depend on bad ones.
func (p *loadedPlan) failDependents(bad []bool) {
	isBad := func(o int) bool { out := p.compiled.Outputs[o]; return !out.Leaf && bad[out.Index] }
	failed := make([]bool, len(p.dependencies.members))
	for more := true; more; {
		more = false
		for k, members := range p.dependencies.members {
			if !failed[k] && slices.ContainsFunc(members, isBad) {
				failed[k], more = true, true
			}
		}
		for o, needs := range p.dependencies.needs {
			if out := p.compiled.Outputs[o]; !out.Leaf && slices.ContainsFunc(needs, func(k int) bool { return failed[k] }) {
				bad[out.Index] = true
			}
		}
	}
}

// findMayFail lists by buffer whether it would be bad if all checks failed.
func (p *loadedPlan) findMayFail() []bool {
	x := &execution{plan: p, bad: make([]bool, len(p.compiled.Buffers))}
	for i := range p.compiled.Steps {
		s := &p.compiled.Steps[i]
		var reported *fault
		if len(s.Indices) > 0 {
			reported = newFault(nil)
		}
		x.propagate(s, reported)
	}
	p.failDependents(x.bad)
	return x.bad
}
