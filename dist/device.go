package dist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// The devices of the ranks compute collectives themselves if all can: each rank offers its device at the
// first collective of tensors on it, rank 0 chooses, and all ranks wait for the choice. It holds for all
// later collectives of the group.

// An offer says that the device of a rank has collectives, or why not.
type offer struct {
	Number int64  // of the collective
	System string // see driver.Collective; "" without
	Place  string
	Why    string
}

// A choice is the ranks' common way of collectives.
type choice struct {
	ID     []byte // of the communicator; nil if collectives go through the host
	System string
	Why    string // the host
}

// An agreement is rank 0's list of offers.
type agreement struct {
	offers []*offer // by rank
	id     func() ([]byte, error)
	done   bool
}

func newAgreement(size int) *agreement { return &agreement{offers: make([]*offer, size)} }

// decide returns the choice once it is clear, and nil before and after; a choice of devices lacks its id. Counts has
// the collectives that each rank has begun: a rank that began the offered one without an offer has its tensors
// elsewhere. The failure, of a rank, is two ranks on one device.
func (a *agreement) decide(counts []int64) (c *choice, rank int, cause string) {
	first := slices.IndexFunc(a.offers, func(o *offer) bool { return o != nil })
	if a.done || first < 0 {
		return nil, 0, ""
	}
	host := func(format string, args ...any) (*choice, int, string) {
		a.done = true
		return &choice{Why: fmt.Sprintf(format, args...)}, 0, ""
	}
	of, missing, places := a.offers[first], false, map[string]int{}
	for rank, o := range a.offers {
		switch {
		case o == nil && counts[rank] < of.Number:
			missing = true
			continue
		case o == nil || o.Number != of.Number:
			return host("rank %d has the tensor of collective %d on a device without collectives of its own, and rank %d on one with", rank, of.Number, first)
		case o.System == "":
			return host("rank %d: %s", rank, o.Why)
		case o.System != of.System:
			return host("rank %d has %s, and rank %d %s", first, of.System, rank, o.System)
		}
		if other, taken := places[o.Place]; taken {
			a.done = true
			return nil, rank, fmt.Sprintf("ranks %d and %d have one GPU: give each its own, device.Open(fmt.Sprintf(\"cuda:%%d\", g.LocalRank())), or set TENSORKEN_NCCL to off", other, rank)
		}
		places[o.Place] = rank
	}
	if missing {
		return nil, 0, ""
	}
	a.done = true
	return &choice{System: of.System}, 0, ""
}

// identify gives a choice of devices its id, which may take long: the caller holds no lock.
func (c *choice) identify(id func() ([]byte, error)) {
	if c.Why != "" {
		return
	}
	var err error
	if c.ID, err = id(); err != nil {
		c.ID, c.System, c.Why = nil, "", fmt.Sprintf("rank 0: %v", err)
	}
}

// onChoice notes the choice of rank 0.
func (g *Group) onChoice(c choice) {
	g.state.Lock()
	defer g.state.Unlock()
	if g.choice == nil {
		g.choice = &c
		close(g.chosen)
	}
}

// Transport says how the collectives of tensors on this rank's device go: by TCP or, once a collective
// has found that all ranks have it, by NCCL. For TCP between GPUs it says why.
func (g *Group) Transport() string {
	g.state.Lock()
	defer g.state.Unlock()
	switch c := g.choice; {
	case c == nil || c.Why == "" && c.ID == nil:
		return "TCP"
	case c.ID == nil:
		return "TCP: " + c.Why
	default:
		return c.System
	}
}

// join reports whether a device computes a collective of its tensors. If so, the ranks have compared their calls
// of it, or do so while it runs if they have made this one before: at the latest before the next one.
func (g *Group) join(c *call, d driver.Collective) (bool, error) {
	if g.size == 1 {
		return false, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.Err(); err != nil {
		return false, err
	}
	if g.device == nil {
		if err := g.meet(d); err != nil {
			return false, err
		}
		g.device = d
	}
	if g.comm.Load() == nil || d != g.device {
		return false, nil
	}
	return true, g.compare(c)
}

// compare begins a collective on the device. The caller holds g.mu.
func (g *Group) compare(c *call) error {
	count, err := g.begin(c)
	if err == nil {
		err = g.await()
	}
	if err != nil {
		return err
	}
	c.setHeader(count, onDevice)
	compared := make(chan struct{})
	g.comparing = compared
	go func() {
		defer close(compared)
		g.conclude(c.receive(g.ring, count, onDevice))
	}()
	if err := g.ring.exchange(c.header, nil); err != nil {
		g.conclude("", err)
		return cmp.Or(g.Err(), err)
	}
	if !c.compared {
		err = g.await()
		c.compared = err == nil
	}
	return err
}

// meet offers a device, waits for the choice and, if it is the device, for the other ranks.
func (g *Group) meet(d driver.Collective) error {
	o := offer{Number: g.collectives.Load() + 1}
	var err error
	switch o.System, o.Place, err = d.Collectives(); {
	case errors.Is(err, errors.ErrUnsupported):
		o = offer{Number: o.Number, Why: err.Error()}
	case err != nil:
		g.failBy(g.blame(g.rank, err.Error()))
		return g.Err()
	}
	g.control.offer(o, d.CommunicatorID) // before the collective counts as begun
	g.waiting.Store(1)
	defer g.waiting.Store(0)
	if f := g.goneBefore(o.Number); f != nil {
		g.onFailure(*f)
	}
	select {
	case <-g.chosen:
	case <-g.done:
		return g.Err()
	}
	if g.choice.ID == nil {
		return nil
	}
	ctx, end := context.WithTimeoutCause(g.failed, g.deadline, fmt.Errorf("%s did not connect the ranks' devices within %v: NCCL_DEBUG=INFO in the environment says more", g.choice.System, g.deadline))
	defer end()
	comm, err := d.Join(ctx, g.choice.ID, g.rank, g.size)
	if err != nil {
		if g.Err() == nil {
			g.failBy(g.blame(g.rank, err.Error()))
		}
		return cmp.Or(g.Err(), err)
	}
	g.comm.Store(&comm)
	if err := g.Err(); err != nil { // since Join
		comm.Abort(err)
		return err
	}
	return nil
}

// start starts collectives on the device, after join.
func (g *Group) start(calls []driver.CollectiveCall) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.Err(); err != nil {
		return err
	}
	if err := (*g.comm.Load()).Run(calls); err != nil {
		if !g.hasFailed() {
			g.failBy(g.blame(g.rank, err.Error()))
		}
		return cmp.Or(g.Err(), err) // the group is closed
	}
	return nil
}

// await waits for the comparison of the collective before on a device.
func (g *Group) await() error {
	if g.comparing != nil {
		select {
		case <-g.comparing:
		case <-g.done:
		}
	}
	return g.Err()
}

// checkDevice reports a failure of the connection between devices.
func (g *Group) checkDevice() {
	if c := g.comm.Load(); c != nil && !g.hasFailed() {
		if err := (*c).Err(); err != nil {
			g.failBy(g.blame(g.rank, "the connection of its device: "+err.Error()))
		}
	}
}

// A deviceCall is a call whose collectives a device computes.
type deviceCall struct {
	g     *Group
	c     *call
	calls func(out graph.DeviceArray, in []graph.DeviceArray) []driver.CollectiveCall
	after func(d driver.Collective, out graph.DeviceArray) error // nil for nothing
}

// Ready implements graph.Collective.
func (x *deviceCall) Ready(d driver.Collective) bool {
	x.g.mu.Lock()
	defer x.g.mu.Unlock()
	return x.g.comm.Load() != nil && x.g.device == d
}

// Fail implements graph.Collective.
func (x *deviceCall) Fail(err error) {
	if !x.g.hasFailed() {
		x.g.failBy(x.g.blame(x.g.rank, err.Error()))
	}
}

// Join implements graph.Collective.
func (x *deviceCall) Join(d driver.Collective) (bool, error) { return x.g.join(x.c, d) }

// Start implements graph.Collective.
func (x *deviceCall) Start(d driver.Collective, out graph.DeviceArray, in []graph.DeviceArray) error {
	err := x.g.start(x.calls(out, in))
	if err == nil && x.after != nil {
		err = x.after(d, out)
	}
	return err
}

// onDevice returns the collective on a device: one call for each example of a batch. It is nil for the maximum of
// floating-point numbers, of which NCCL ignores NaN.
func (c *collective) onDevice(called *call, d ir.DType) graph.Collective {
	if c.device.Combine == ir.Max && d.IsFloat() {
		return nil
	}
	x := &deviceCall{g: c.g, c: called, after: c.after}
	x.calls = func(out graph.DeviceArray, in []graph.DeviceArray) []driver.CollectiveCall {
		batch := in[0].Shape[:len(in[0].Shape)-1]
		examples := graph.Len(batch)
		calls := make([]driver.CollectiveCall, examples)
		for i := range calls {
			call := c.device
			call.DType, call.From, call.To = in[0].DType, in[0].Arg, out.Arg
			from, to, offset := graph.Len(in[0].Shape)/examples, graph.Len(out.Shape)/examples, in[0].Offset
			call.Len = min(from, to)
			if call.Combine == 0 { // any bytes
				size := call.DType.Size()
				call.DType, call.Len, from, to, offset = ir.Uint8, call.Len*size, from*size, to*size, offset*size
			}
			call.From.Offset, call.To.Offset = offset+i*from, i*to
			calls[i] = call
		}
		return calls
	}
	return x
}
