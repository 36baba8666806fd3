package exec

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/ir"
)

// leastChecks is how many steps may at least note a bad index before somebody
// looks.
const leastChecks = 1 << 12

// status is a device's memory of bad indices: two words for each step that
// checks some, handed out in turn. A device that runs ahead of its caller is
// asked for them at the next read of a value, and when they run out.
type status struct {
	buffer  driver.Buffer
	checks  int // that the buffer has room for
	next    int
	pending []*run
}

// A run is one execution of a plan that may turn out to have met a bad index,
// itself or in what it used.
type run struct {
	plan   *compile.Plan
	first  int      // of its checks' places
	leaves []origin // of the plan's leaves those that are pending
	tied   []int    // buffers without which no other is worth anything
	line   string   // of the program, if it is known

	// To be read once done: the first failure, and the buffers that depend on
	// one, nil if all do.
	err  error
	bad  []bool
	done atomic.Bool
}

// An origin is where a store's elements come from. A run that is pending has
// those of what it used: the stores themselves would keep the memory of all that
// was computed since somebody looked.
type origin struct {
	run     *run // that computed them, if it may have met a bad index
	buffer  int  // of the run's plan
	stretch *stretch
}

// fail is why the elements are worthless; nil if they are not, as far as that
// is known.
func (o origin) fail() error {
	if r := o.run; r != nil && r.done.Load() && r.err != nil && (r.bad == nil || r.bad[o.buffer]) {
		return r.err
	}
	return o.stretch.fail()
}

// pending reports whether the elements may yet turn out to have failed.
func (o origin) pending() bool { return o.run != nil && !o.run.done.Load() }

// begin returns the run of a plan that checks indices, or uses what pending
// runs computed; nil for others. The caller holds d.mu.
func (d *Device) begin(p *plan, r *request) (*run, error) {
	s := &d.status
	out := &run{plan: p.compiled, line: r.line()}
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
	for _, i := range r.tied() {
		if o := p.compiled.Outputs[i]; !o.Leaf {
			out.tied = append(out.tied, o.Index)
		}
	}
	out.first = s.next
	s.next += checks
	s.pending = append(s.pending, out)
	return out, nil
}

// room makes the status's buffer, which nothing uses, have room for so many
// checks. The caller holds d.mu.
func (d *Device) room(checks int) error {
	s := &d.status
	if checks = max(checks, leastChecks); checks <= s.checks {
		return nil
	}
	b, err := d.drv.Alloc(8 * checks)
	if err != nil {
		return err
	}
	if err := d.drv.Upload(b, 0, make([]byte, 8*checks)); err != nil {
		b.Free()
		return err
	}
	if s.buffer != nil {
		s.buffer.Free()
	}
	s.buffer, s.checks = b, checks
	return nil
}

// resolve finds out what the pending runs noted. The caller holds d.mu.
func (d *Device) resolve() error {
	s := &d.status
	if len(s.pending) == 0 {
		return nil
	}
	words := make([]byte, 8*s.next)
	if err := d.download(words, s.buffer, 0); err != nil {
		return err
	}
	found := false
	for _, r := range s.pending {
		r.finish(words)
		found = found || r.err != nil
	}
	s.pending = s.pending[:0]
	s.next = 0
	if !found {
		return nil
	}
	clear(words)
	return d.drv.Upload(s.buffer, 0, words)
}

// finish finds out which buffers depend on a bad index.
func (r *run) finish(words []byte) {
	r.bad = make([]bool, len(r.plan.Buffers))
	for _, s := range r.plan.Steps {
		r.step(s, r.noted(s, words))
	}
	if slices.ContainsFunc(r.tied, func(b int) bool { return r.bad[b] }) {
		for i := range r.bad {
			r.bad[i] = true
		}
	}
	r.plan, r.leaves = nil, nil
	r.done.Store(true)
}

// step follows failures through a step that noted one, or nil: from the
// instructions that use an index, of which only the first to fail is known,
// and from arguments that failed, to what it writes.
func (r *run) step(s compile.Step, noted error) {
	failed := make([]error, len(s.Args)) // of arguments
	some := noted != nil
	for k, a := range s.Args {
		switch {
		case a.Kind != ir.In:
		case !a.Leaf && r.bad[a.Index]:
			failed[k] = r.err
		case a.Leaf && r.leaves != nil && r.leaves[a.Index].run != nil:
			failed[k] = r.leaves[a.Index].fail()
		}
		some = some || failed[k] != nil
	}
	if !some {
		return
	}
	values := make([]error, len(s.Kernel.Body))
	for k, in := range s.Kernel.Body {
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
		if (in.Op == ir.Load && len(in.Src) > 0 || in.Op == ir.Scatter) && err == nil {
			err = noted
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

// noted returns the bad index that a step noted, if any.
func (r *run) noted(s compile.Step, words []byte) error {
	k := slices.IndexFunc(s.Args, func(a compile.Arg) bool { return a.Kind == ir.Status })
	if k < 0 {
		return nil
	}
	w := words[8*(r.first+s.Args[k].Index):]
	at := binary.LittleEndian.Uint32(w)
	if at == 0 {
		return nil
	}
	index := int32(binary.LittleEndian.Uint32(w[4:]))
	return &IndexError{Index: int64(index), Len: s.Kernel.Body[at-1].View.Len, Line: r.line}
}
