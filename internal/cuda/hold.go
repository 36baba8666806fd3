//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"fmt"

	"github.com/tensorken/tensorken/driver"
)

// maxHeld is the number of calls that are held at most. To launch a graph of as many kernels takes
// the host a third of the time of their launches one by one.
const maxHeld = 16

// A holder has calls that later calls are launched with, in one graph.
type holder struct {
	calls []driver.Call
	args  []driver.Arg // of the calls
	room  [maxHeld]driver.Call
}

// hold holds calls of few kernels, and launches all that are held once there are maxHeld. It reports
// false if it does not hold the calls. A call that cannot be launched is refused, and none is held.
func (d *device) hold(calls []driver.Call) (held bool, err error) {
	h, kernels := &d.holder, 0
	if !d.replays || d.closed != nil || len(calls) > maxHeld {
		return false, nil
	}
	for i := range calls {
		p, ok := calls[i].Program.(*program)
		if !ok || p.device != d || p.loop != nil {
			return false, nil
		}
		if kernels += len(p.passes); kernels >= fewestNodes {
			return false, nil
		}
	}
	for i := range calls {
		p := calls[i].Program.(*program)
		err := p.Check(calls[i].Args, d.sizeOf)
		for k := range p.passes {
			if err == nil {
				_, err = d.function(&p.passes[k])
			}
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	if len(h.calls)+len(calls) > maxHeld {
		d.Flush()
	}
	if h.calls == nil {
		h.calls = h.room[:0]
	}
	for _, c := range calls {
		first := len(h.args)
		h.args = append(h.args, c.Args...)
		h.calls = append(h.calls, driver.Call{Program: c.Program, Args: h.args[first:len(h.args):len(h.args)]})
	}
	if len(h.calls) == maxHeld {
		d.Flush()
	}
	return true, d.closed
}

// Holds makes the promise of driver.Flusher.
func (d *device) Holds() bool { return len(d.holder.calls) > 0 }

// Flush makes the promise of driver.Flusher.
func (d *device) Flush() {
	if leave, err := d.enter(); err == nil {
		leave()
	}
}

// launchHeld launches the calls that are held, in the context that is current. Sync returns a
// failure, because the Run of the calls has returned.
func (d *device) launchHeld() {
	h := &d.holder
	calls := h.calls
	h.calls = nil // to free what is kept for reuse enters again
	if err := d.launch(calls); err != nil && d.failed == nil {
		d.failed = err
	}
	clear(h.room[:])
	clear(h.args)
	h.args = h.args[:0]
}
