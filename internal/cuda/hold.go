//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"fmt"

	"github.com/tensorken/tensorken/driver"
)

const (
	// maxPending is the number of calls that are held at most. The host launches a graph of as many
	// kernels faster than it launches them one by one.
	maxPending = 16
	// maxBatches is the most lists of held calls that are known to have run. They depend on when
	// the calls come, so that many never run again.
	maxBatches = 64
)

// pending has calls that are held, to be launched together with later ones.
type pending struct {
	calls   []driver.Call
	args    []driver.Arg // of the calls
	backing [maxPending]driver.Call
}

// hold holds calls of few kernels, and launches all that are held once there are maxPending. It
// reports false if it does not hold the calls. A wrong argument is an error, and no call is held.
func (d *device) hold(calls []driver.Call) (held bool, err error) {
	if !d.replays || d.Closed != nil || len(calls) > maxPending || !d.areHoldable(calls) {
		return false, nil
	}
	for i := range calls {
		if err := calls[i].Program.(*program).Check(calls[i].Args, d.SizeOf); err != nil {
			return false, fmt.Errorf("%s: %w", d.Name(), err)
		}
	}
	h := &d.pending
	if len(h.calls)+len(calls) > maxPending {
		if d.Flush(); d.Closed != nil {
			return false, d.Closed
		}
	}
	if h.calls == nil {
		h.calls = h.backing[:0]
	}
	for _, c := range calls {
		first := len(h.args)
		h.args = append(h.args, c.Args...)
		h.calls = append(h.calls, driver.Call{Program: c.Program, Args: h.args[first:len(h.args):len(h.args)]})
	}
	if len(h.calls) == maxPending {
		d.Flush()
	}
	return true, d.Closed
}

// areHoldable reports whether calls have few kernels, whose launches will need nothing that may be
// refused: no scratch, and no module that is yet to be loaded.
func (d *device) areHoldable(calls []driver.Call) bool {
	for i := range calls {
		p, ok := calls[i].Program.(*program)
		if !ok || p.device != d || len(p.scratch) > 0 {
			return false
		}
		for k := range p.passes {
			m := p.passes[k].module
			if <-m.ready; m.err != nil || m.function == 0 {
				return false
			}
		}
	}
	return !d.isLong(calls)
}

// Holds implements driver.Flusher.
func (d *device) Holds() bool { return len(d.pending.calls) > 0 }

// Flush implements driver.Flusher. It leaves the device's context current.
func (d *device) Flush() {
	if leave, err := d.Enter(); err == nil {
		leave()
	}
}

// launchPending launches the calls that are held, in the context that is current. Sync returns a
// failure, because the Run of the calls has returned.
func (d *device) launchPending() {
	calls := d.pending.calls
	d.pending.calls = nil // to free a buffer enters again
	if err := d.launch(calls, &d.batches, maxBatches); err != nil && d.Failed == nil {
		d.Failed = err
	}
	d.dropPending()
}

// dropPending forgets the calls that are held.
func (d *device) dropPending() {
	h := &d.pending
	clear(h.backing[:])
	clear(h.args)
	h.calls, h.args = nil, h.args[:0]
}
