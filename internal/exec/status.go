package exec

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
)

// statusWords is how many steps may note a bad index before somebody looks.
const statusWords = 1 << 12

// status is a device's memory of bad indices: two words for each step that
// checks some, handed out in turn. A device that runs ahead of its caller is
// asked for them at the next read of a value, and when they run out.
type status struct {
	buffer  driver.Buffer
	next    int
	pending []*run
}

// A run is one execution of a plan that may turn out to have met a bad index.
type run struct {
	plan    *compile.Plan // nil if it checks nothing itself
	first   int           // of its words, one pair a step
	parents []*run        // whose results it used, as far as they were pending
	err     error         // to be read once done
	done    atomic.Bool
}

// fail is why the results of r are worthless; nil if they are not, as far as
// that is known.
func (r *run) fail() error {
	if r != nil && r.done.Load() {
		return r.err
	}
	return nil
}

// begin returns the run of a plan that checks indices, or uses what pending
// runs computed; nil for others. The caller holds d.mu.
func (d *Device) begin(p *plan, r *request) (*run, error) {
	s := &d.status
	out := &run{}
	for i := range r.leaves {
		if q := r.leaves[i].value.Store.(*store).run; q != nil && !q.done.Load() {
			out.parents = append(out.parents, q)
		}
	}
	steps := 0
	if p.compiled.Checked {
		steps = len(p.programs)
	} else if out.parents == nil {
		return nil, nil
	}
	if s.next+steps > statusWords || len(s.pending) >= statusWords {
		if err := d.resolve(); err != nil {
			return nil, err
		}
	}
	if s.buffer == nil {
		b, err := d.drv.Alloc(8 * statusWords)
		if err != nil {
			return nil, err
		}
		if err := d.drv.Upload(b, 0, make([]byte, 8*statusWords)); err != nil {
			return nil, err
		}
		s.buffer = b
	}
	if steps > 0 {
		out.plan, out.first = p.compiled, s.next
	}
	s.next += steps
	s.pending = append(s.pending, out)
	return out, nil
}

// resolve finds out what the pending runs noted. The caller holds d.mu.
func (d *Device) resolve() error {
	s := &d.status
	if len(s.pending) == 0 {
		return nil
	}
	words := make([]byte, 8*s.next)
	if err := d.drv.Download(words, s.buffer, 0); err != nil {
		return err
	}
	found := false
	for _, r := range s.pending {
		r.err = r.noted(words)
		for _, p := range r.parents {
			if r.err == nil {
				r.err = p.err
			}
		}
		found = found || r.err != nil
		r.plan, r.parents = nil, nil
		r.done.Store(true)
	}
	s.pending = s.pending[:0]
	if !found {
		s.next = 0
		return nil
	}
	clear(words)
	s.next = 0
	return d.drv.Upload(s.buffer, 0, words)
}

// noted returns the first bad index that the run's steps noted.
func (r *run) noted(words []byte) error {
	if r.plan == nil {
		return nil
	}
	for i, s := range r.plan.Steps {
		w := words[8*(r.first+i):]
		at := binary.LittleEndian.Uint32(w)
		if at != 0 {
			index := int32(binary.LittleEndian.Uint32(w[4:]))
			return &IndexError{Index: int64(index), Len: s.Kernel.Body[at-1].View.Len}
		}
	}
	return nil
}
