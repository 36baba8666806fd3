package exec

import (
	"errors"
	"runtime"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A Failure is what went wrong on a device.
type Failure struct {
	Device *Device
	Err    error
}

func (e *Failure) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Failure) Unwrap() error { return e.Err }

// A part of what is to be computed belongs to one device.
type part struct {
	device     *Device
	roots, old []*graph.Node
}

// byDevice parts roots that have no value by what computes them. Old is nil or
// has an element for each.
func byDevice(def *Device, roots, old []*graph.Node) []part {
	var parts []part
	for k, n := range roots {
		if n.Value() != nil {
			continue
		}
		d := deviceOf(n, def)
		i := 0
		for i < len(parts) && parts[i].device != d {
			i++
		}
		if i == len(parts) {
			parts = append(parts, part{device: d})
		}
		parts[i].roots = append(parts[i].roots, n)
		if old != nil {
			parts[i].old = append(parts[i].old, old[k])
		}
	}
	return parts
}

// Eval computes roots, all that belong to one device in one plan. Nodes that
// belong to none are computed on def. It returns the first failure of what it
// ran, or of the values that roots have.
func Eval(def *Device, roots []*graph.Node) error { return eval(def, nil, roots, nil) }

// Step is Eval as a transaction, for an optimizer: roots[i] is the new value of
// old[i], which is nil for a value that is new. If anything that is computed
// along with the roots meets a bad index, Step fails and the caller keeps what it
// has. The roots of each device are a transaction of their own.
//
// A device that runs ahead has not met it by then. There the roots come to hold
// the elements of old, so that training continues from them, and the journal tells
// of the failure once it is known.
func Step(def *Device, j *Journal, roots, old []*graph.Node) error { return eval(def, j, roots, old) }

// A Journal remembers the transactions that ran ahead.
type Journal struct{ pending []*run }

// Failed returns how many transactions are newly known to have failed, and the
// first of their failures that nobody has read.
func (j *Journal) Failed() (n int, err error) {
	j.pending = slices.DeleteFunc(j.pending, func(r *run) bool {
		if !r.done.Load() {
			return false
		}
		if r.failure != nil {
			n++
			if first := !r.failure.reported.Swap(true); first && err == nil {
				err = r.failure.err
			}
		}
		return true
	})
	return n, err
}

func eval(def *Device, j *Journal, roots, old []*graph.Node) error {
	for _, p := range byDevice(def, roots, old) {
		if err := p.device.eval(j, p.roots, p.old); err != nil {
			var f *Failure
			if errors.As(err, &f) {
				return err // of a device that was to compute something first
			}
			return &Failure{p.device, err}
		}
	}
	for _, n := range roots {
		if v := n.Value(); v != nil && v.Err != nil {
			return v.Err
		}
	}
	return nil
}

func (d *Device) eval(j *Journal, roots, old []*graph.Node) error {
	d.breathe()
	r := newRequest(d, roots, old)
	if len(r.foreign) > 0 {
		foreign := slices.Clone(r.foreign)
		r.release()
		if err := Eval(d, foreign); err != nil {
			return err
		}
		r = newRequest(d, roots, old)
	}
	defer r.release()
	err := r.ready(d)
	var p *plan
	if err == nil {
		p, err = d.prepare(r)
	}
	if err == nil {
		err = d.run(p, r, j)
		if errors.Is(err, driver.ErrMemory) { // what nobody uses any more may be enough
			reclaim()
			d.mu.Lock()
			err = d.makeRoom()
			d.mu.Unlock()
			if err == nil {
				err = d.run(p, r, j)
			}
		}
	}
	if err != nil { // the roots stay as they were: another try may do better
		return err
	}
	r.mark()
	return nil
}

// ready returns the first failure among the leaves, and brings those of other
// devices to where d can have them. A transaction waits for reports on what it
// reads.
func (r *request) ready(d *Device) error {
	if r.failed != nil {
		return r.failed
	}
	if len(r.old) > 0 && r.pending() {
		if err := d.readReports(); err != nil {
			return err
		}
	}
	for i := range r.leaves {
		v := r.leaves[i].value
		if v.Err != nil {
			return v.Err
		}
		s := v.Store.(*store)
		if err := s.fail(); err != nil {
			return err
		}
		if s.device != nil && s.device != d {
			if err := s.bring(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fallsBack reports whether all results of a transaction that may fail fall back.
func (r *request) fallsBack(p *plan) bool {
	if !p.compiled.FallsBack {
		return false
	}
	falls := r.fallbacks // in the order of the roots
	for i := range r.old {
		o := r.find(r.numberOf(r.roots[i]))
		if len(falls) > 0 && falls[0].Output == o {
			falls = falls[1:]
			continue
		}
		if o < 0 {
			continue
		}
		if out := p.compiled.Outputs[o]; !out.Leaf && p.mayFail[out.Index] {
			return false
		}
	}
	return true
}

// pending reports whether a leaf may yet turn out to have failed.
func (r *request) pending() bool {
	return slices.ContainsFunc(r.leaves, func(l leaf) bool { return l.value.Err == nil && l.value.Store.(*store).pending() })
}

// readReports reads the reports of all runs.
func (d *Device) readReports() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.resolve()
}

// run runs a plan and gives the outputs their values.
func (d *Device) run(p *plan, r *request, j *Journal) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots = d.slots[:0]
	defer func() { // outputs that are kept have been taken out
		for i, b := range d.slots {
			if b != nil {
				d.memory.give(b, p.slots[i])
			}
		}
	}()
	for _, class := range p.slots {
		b, err := d.take(class)
		if err != nil {
			return err
		}
		d.slots = append(d.slots, b)
	}
	now, err := d.begin(p, r)
	if err != nil {
		return err
	}
	if err := d.bind(p, r, now); err != nil {
		return err
	}
	err = d.drv.Run(d.calls)
	clear(d.calls)
	clear(d.args[:p.args])
	waits := len(r.old) > 0 && !r.fallsBack(p)
	if err == nil && now != nil && (!d.limits.Async || waits) {
		err = d.resolve()
	}
	if err != nil {
		return err
	}
	err = d.finish(p, r, now)
	runtime.KeepAlive(r.leaves)
	switch {
	case err != nil || now == nil || len(r.old) == 0:
	case waits:
		err = now.failure.report()
	case j != nil:
		j.pending = append(j.pending, now)
	}
	return err
}

// bind fills in the arguments of the plan's calls.
func (d *Device) bind(p *plan, r *request, now *run) error {
	d.calls = d.calls[:0]
	if cap(d.args) < p.args {
		d.args = make([]driver.Arg, p.args)
	}
	args := d.args[:p.args]
	for i := range p.compiled.Steps {
		s := &p.compiled.Steps[i]
		call := args[:len(s.Args):len(s.Args)]
		args = args[len(s.Args):]
		for k, a := range s.Args {
			switch {
			case a.Kind == ir.Value:
				call[k] = driver.Arg{Num: r.scalars[a.Index]}
			case a.Kind == ir.Status, a.Report:
				call[k] = driver.Arg{Buffer: d.status.buffer, Offset: ir.StatusLen * (now.first + a.Index)}
			case a.Leaf:
				l := &r.leaves[a.Index]
				s := l.value.Store.(*store)
				b, err := s.on(d)
				if err == nil {
					err = s.fail() // what was ready may have failed since
				}
				if err != nil {
					return err
				}
				call[k] = driver.Arg{Buffer: b.buffer, Offset: l.view.Offset + a.Offset}
			default:
				call[k] = driver.Arg{Buffer: d.slots[p.slot[a.Index]], Offset: a.Offset}
			}
		}
		d.calls = append(d.calls, driver.Call{Program: p.programs[i], Args: call})
	}
	return nil
}

// finish gives each output its value: a view of a leaf, or of a slot, which
// becomes a store's.
func (d *Device) finish(p *plan, r *request, now *run) error {
	stores := make([]*store, len(p.slots))
	for i, o := range r.outputs {
		out := &p.compiled.Outputs[i]
		v := &graph.Value{Offset: out.Offset, Strides: out.Strides}
		if out.Leaf {
			l := &r.leaves[out.Index]
			s, err := l.value.Store.(*store).to(d)
			if err != nil {
				return err
			}
			v.Store = s
			v.Offset += l.view.Offset
		} else {
			slot := p.slot[out.Index]
			if stores[slot] == nil {
				b := d.own(d.slots[slot], p.slots[slot])
				stores[slot] = &store{device: d, block: b, origin: origin{stretch: b.stretch}}
				if now != nil && now.mayFail(p, out.Index) {
					stores[slot].run, stores[slot].buffer = now, out.Index
				}
				d.slots[slot] = nil
			}
			v.Store = stores[slot]
			if err := stores[slot].fail(); err != nil {
				v = &graph.Value{Err: err}
			}
		}
		for _, n := range o.nodes {
			n.SetValue(v)
		}
	}
	return nil
}

// mayFail reports whether a buffer may turn out to depend on a bad index.
func (r *run) mayFail(p *plan, buffer int) bool {
	return (p.mayFail[buffer] || r.leaves != nil) && !(r.fallbacks != nil && r.fallbacks[buffer])
}

// Read returns n's elements in row-major order, little-endian; it computes
// them if need be.
func Read(def *Device, n *graph.Node) ([]byte, error) {
	if err := Eval(def, []*graph.Node{n}); err != nil {
		return nil, err
	}
	v := n.Value()
	s := v.Store.(*store)
	size := n.DType.Size()
	out, err := Allocate(n.Len(), size)
	if err != nil {
		return nil, &Failure{deviceOf(n, def), err}
	}
	if len(out) == 0 {
		return out, nil
	}
	lo, hi := v.Offset, v.Offset
	for i, st := range v.Strides {
		if st > 0 {
			hi += st * (n.Shape[i] - 1)
		} else {
			lo += st * (n.Shape[i] - 1)
		}
	}
	rowMajor := shape.IsRowMajor(n.Shape, v.Strides)
	data := out
	switch {
	case s.device == nil:
		data = s.host[lo*size : (hi+1)*size]
		if rowMajor {
			copy(out, data)
		}
	default:
		if !rowMajor {
			if data, err = Allocate(hi+1-lo, size); err != nil {
				return nil, &Failure{s.device, err}
			}
		}
		if err := s.download(data, lo*size); err != nil {
			return nil, err
		}
	}
	if !rowMajor {
		gather(out, data, n.Shape, v.Strides, v.Offset-lo, size)
	}
	return out, nil
}

// gather copies elements at strides to row-major order.
func gather(dst, src []byte, dims, strides []int, offset, size int) {
	if len(dims) == 0 {
		copy(dst, src[offset*size:][:size])
		return
	}
	inner, step := dims[len(dims)-1], strides[len(dims)-1]*size
	index := make([]int, len(dims)-1)
	for len(dst) > 0 {
		at := offset
		for k, i := range index {
			at += strides[k] * i
		}
		at *= size
		for range inner {
			copy(dst[:size], src[at:])
			dst = dst[size:]
			at += step
		}
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < dims[k] {
				break
			}
			index[k] = 0
		}
	}
}
