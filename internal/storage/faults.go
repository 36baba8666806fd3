package storage

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/memory"
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

// Checks has the dependencies of a plan's results.
type Checks struct {
	Steps   []*compile.Step // that check indices
	Len     int             // how many they are
	End     int             // of the plan's steps: none from there on checks indices that others have not checked
	All     compile.Set     // their checks, numbered as in Plan.Depends
	Depends []compile.Set   // by slot: Plan.Depends of the outputs
}

// Sites are the calls that made the indices that an execution checks.
type Sites struct {
	List  []*graph.IndexSite
	Again bool // the calls are run again: a failure is of a copy, whose errors nobody has got
}

// An Execution is one run of a plan that may have met a bad index, itself or
// through its leaves. It is pending until its reports are read.
type Execution struct {
	Reports    memory.Pooled // of the stream, or its own
	FirstCheck int           // in Reports

	checks      *Checks
	sites       Sites  // of the indices of the plan's steps, in order
	onHost      []byte // the reports, if the device is not asynchronous
	leaves      []Pending
	unknown     compile.Set // the checks and pending leaves, numbered as in Plan.Depends
	transaction bool
	journal     *failures // that learns of the fault; nil for none

	// Set before done:
	fault  *fault   // the first; nil if there was none
	faults []*fault // by slot: the first that the elements depend on; nil if all share fault
	done   atomic.Bool
}

// Err returns the error of an execution that is not pending.
func (x *Execution) Err() error { return x.fault.report() }

// An origin says where stored elements come from. Pending executions hold the
// origins of their leaves and not the storages, which would keep all memory in use
// until the next read of reports.
type origin struct {
	exec  *Execution // that computed them and may have met a bad index; nil for others
	slot  int        // of the execution's plan
	epoch *syncEpoch // in which they were written
}

// A Pending is a leaf of an execution that is pending itself.
type Pending struct {
	number int // as in Plan.Depends
	origin
}

// AppendPending appends s, the elements of leaf number, if they may turn out to be invalid.
func (s *Storage) AppendPending(list []Pending, number int) []Pending {
	if s.pending() {
		list = append(list, Pending{number, s.origin})
	}
	return list
}

// Attach makes s, the elements of a slot, fail with an execution, which may be nil.
func (c *Checks) Attach(s *Storage, x *Execution, slot int) {
	if x != nil && c.Depends[slot].Intersects(x.unknown) {
		s.exec, s.slot = x, slot
	}
}

// failed returns the error that makes the elements invalid, nil if none is known. The
// error counts as reported.
func (o origin) failed() error { return o.fault().report() }

// fault is the fault that the elements depend on, nil if none is known.
func (o origin) fault() *fault {
	if x := o.exec; x != nil && x.done.Load() && x.fault != nil {
		if x.faults == nil {
			return x.fault
		}
		if f := x.faults[o.slot]; f != nil {
			return f
		}
	}
	return o.epoch.fault()
}

// pending reports whether the elements may turn out to be invalid.
func (o origin) pending() bool { return o.exec != nil && !o.exec.done.Load() }

// attribute ends the execution: the results that depend on a reported bad index, or on a
// leaf that has failed, fail. Reports has the reports of the stream from the first on.
func (x *Execution) attribute(reports []byte, first int) {
	sites := x.sites.List
	for _, l := range x.leaves {
		if f := l.fault(); f != nil {
			x.fail(l.number, f)
		}
	}
	for _, s := range x.checks.Steps {
		if f := x.reported(s, sites, reports[reportBytes*(x.FirstCheck-first):]); f != nil {
			x.fail(s.Check(), f)
		}
		sites = sites[len(s.Indices):]
	}
	x.settle()
}

// settle makes the outcome known.
func (x *Execution) settle() {
	x.checks, x.sites, x.leaves, x.Reports, x.onHost = nil, Sites{}, nil, memory.Pooled{}, nil
	x.done.Store(true)
	if x.fault != nil && x.journal != nil {
		x.journal.add(x.fault)
	}
}

// fail fails the results that depend on a check or a leaf.
func (x *Execution) fail(number int, f *fault) {
	if x.fault == nil {
		x.fault, x.faults = f, make([]*fault, len(x.checks.Depends))
	}
	of := compile.SetOf(number)
	for slot, d := range x.checks.Depends {
		if x.faults[slot] == nil && d.Intersects(of) {
			x.faults[slot] = f
		}
	}
}

// reported returns the bad index that a step reports, nil for none. The sites of the
// step's indices come first in sites, the execution's reports in reports.
func (x *Execution) reported(s *compile.Step, sites []*graph.IndexSite, reports []byte) *fault {
	report := reports[reportBytes*s.Check():]
	word := func(i int) int { return int(binary.LittleEndian.Uint64(report[8*i:])) }
	if word(0) == 0 {
		return nil
	}
	instr, index, position := word(0)-1, int64(word(1)), word(2)
	e := &IndexError{Index: index, Len: s.Kernel.Body[instr].View.Len}
	f := newFault(e)
	i := slices.IndexFunc(s.Indices, func(index compile.Index) bool { return index.Instr == instr })
	if i >= 0 && sites[i] != nil {
		if e.Site = sites[i]; x.sites.Again {
			e.Site = e.Site.Again()
		}
		f.reported = &e.Site.Reported
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

// A Journal learns of the transactions that fail after Step has returned.
type Journal struct{ *failures }

type failures struct {
	mu     sync.Mutex
	faults []*fault // since Failed
}

func (f *failures) add(x *fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, x)
}

// Failed returns the number of transactions newly known to have failed, and the
// first of their errors that nobody has read.
func (j *Journal) Failed() (n int, err error) {
	if j.failures == nil {
		return 0, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range j.faults {
		if first := !f.reported.Swap(true); first && err == nil {
			err = f.err
		}
	}
	n = len(j.faults)
	j.faults = nil
	return n, err
}

// Note makes the journal learn of a transaction's failure.
func (j *Journal) Note(x *Execution) {
	if j.failures == nil {
		j.failures = new(failures)
	}
	x.journal = j.failures
}
