package dist

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/files"
)

// Options are the settings of [Init].
type Options struct {
	// Deadline is how long a rank waits for the others to come; 0 is 60 seconds.
	Deadline time.Duration
	// Silence is how long a rank may give no sign of life; 0 is 6 seconds. Signs are sent by a goroutine
	// each second, also while the rank computes.
	Silence time.Duration
	// Stall is how long ranks in a collective wait for one that lives and does not come; 0 is 10 minutes.
	Stall time.Duration
	// OnFailure is called if no collective has returned a failure after five seconds, because the rank
	// computes. Nil prints the failure and ends the process with status 1.
	OnFailure func(error)
}

const defaultDeadline = time.Minute

func (o *Options) withDefaults() Options {
	var x Options
	if o != nil {
		x = *o
	}
	for _, s := range []struct {
		d *time.Duration
		v time.Duration
	}{{&x.Deadline, defaultDeadline}, {&x.Silence, 6 * time.Second}, {&x.Stall, 10 * time.Minute}} {
		if *s.d <= 0 {
			*s.d = s.v
		}
	}
	if x.OnFailure == nil {
		x.OnFailure = func(err error) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	return x
}

// A Failure is the end of a group: no collective works any more.
type Failure struct {
	Rank  int    // that failed, -1 if unknown
	Host  string // of that rank, "" if unknown
	PID   int    // of that rank's process, 0 if unknown
	Cause string
	// SeenBy, Step and Collective say where the rank that reports the failure is: its rank, the calls of
	// [Group.Mean] (steps of training) and the collectives that it has begun.
	SeenBy, Step, Collective int
}

// Error names the rank, its host, the step and the cause.
func (f *Failure) Error() string {
	who := "the group"
	if f.Rank >= 0 {
		who = fmt.Sprintf("rank %d", f.Rank)
	}
	if f.Host != "" {
		who += fmt.Sprintf(" on host %s, process %d", files.Name(f.Host), f.PID)
	}
	return fmt.Sprintf("dist: %s failed: %s (rank %d is in step %d, collective %d)", who, files.Name(f.Cause), f.SeenBy, f.Step, f.Collective)
}

// A Group is the ranks that work together, as one of them sees it. Collectives are for one goroutine at
// a time.
type Group struct {
	rank, size, local int
	ring              *ring
	control           control
	closing           sync.Once
	peers             []peer // by rank

	mu          sync.Mutex        // of a collective
	device      driver.Collective // that was offered
	comparing   <-chan struct{}   // closed when the last call on the device is compared
	collectives atomic.Int64
	waiting     atomic.Int64 // 1 while the rank waits for the choice in the next collective
	steps       atomic.Int64
	comm        atomic.Pointer[driver.Communicator]
	deadline    time.Duration
	chosen      chan struct{} // closed once there is a choice

	state   sync.Mutex
	choice  *choice
	found   *Failure // that the other ranks are being told, before this one's program
	failure *Failure
	noticed bool // the program has the failure
	closed  bool
	left    map[int]int64 // the collectives of ranks that have closed their group
	done    chan struct{} // closed by a failure, or by Close
	failed  context.Context
	fail    context.CancelCauseFunc
}

// A peer is a rank's process.
type peer struct {
	Rank int
	Host string
	PID  int
	Addr string // where it takes the connection of the rank before
}

// quote makes texts from the network fit for errors.
func (p *peer) quote() { p.Host, p.Addr = files.Name(p.Host), files.Name(p.Addr) }

// control tells the other ranks.
type control interface {
	offer(o offer, id func() ([]byte, error))
	report(Failure)    // that one of them failed
	leave(count int64) // that this rank has done its last collective
	close()
}

func newGroup(rank, size, local int) *Group {
	g := &Group{
		rank: rank, size: size, local: local, peers: make([]peer, size), left: map[int]int64{}, done: make(chan struct{}), chosen: make(chan struct{}),
		deadline: defaultDeadline,
	}
	g.failed, g.fail = context.WithCancelCause(context.Background())
	return g
}

// Rank is the rank of this process, from 0.
func (g *Group) Rank() int { return g.rank }

// Size is the number of ranks.
func (g *Group) Size() int { return g.size }

// LocalRank is the number of this rank among the ranks of its host: the number of its GPU, say.
func (g *Group) LocalRank() int { return g.local }

// String names the rank.
func (g *Group) String() string { return fmt.Sprintf("rank %d of %d", g.rank, g.size) }

// Context ends when the group fails, with the [*Failure] as its cause, or is closed.
func (g *Group) Context() context.Context { return g.failed }

// Err returns the [*Failure] of the group, nil if it has not failed.
func (g *Group) Err() error {
	g.state.Lock()
	defer g.state.Unlock()
	if g.failure == nil {
		return nil
	}
	g.noticed = true
	return g.failure
}

// hasFailed is Err for the group itself, after which the program does not know yet.
func (g *Group) hasFailed() bool {
	g.state.Lock()
	defer g.state.Unlock()
	return g.failure != nil
}

// Close says that this rank makes no more collectives. Another rank that waits for one fails. It returns
// the failure of the group, if there was one.
func (g *Group) Close() error {
	g.closing.Do(func() { // while failures are still noticed, which end the wait
		if c := g.comm.Load(); c != nil {
			(*c).Close()
		}
	})
	g.state.Lock()
	closed := g.closed
	g.closed = true
	if !closed && g.failure == nil {
		close(g.done)
	}
	g.state.Unlock()
	if !closed && g.size > 1 {
		g.control.leave(g.collectives.Load())
		g.control.close()
		g.ring.close()
	}
	g.fail(nil)
	return g.Err()
}

// Abort makes all ranks fail because of an error of this one. It returns the failure.
func (g *Group) Abort(err error) error {
	if g.size > 1 && g.Err() == nil {
		g.failBy(g.blame(g.rank, err.Error()))
	}
	return g.Err()
}

// failBy ends the group on all ranks.
func (g *Group) failBy(f Failure) {
	g.find(f)
	g.control.report(f)
	g.onFailure(f)
}

// find notes a failure before other ranks are told, which end by it: this rank's failure is not their end.
func (g *Group) find(f Failure) {
	g.state.Lock()
	defer g.state.Unlock()
	if g.found == nil {
		g.found = &f
	}
}

// blame returns a failure of a rank, seen by this one.
func (g *Group) blame(rank int, cause string) Failure {
	f := Failure{Rank: rank, Cause: cause}
	if rank >= 0 {
		f.Host, f.PID = g.peers[rank].Host, g.peers[rank].PID
	}
	return f
}

// onFailure ends the group: it is the first failure that counts.
func (g *Group) onFailure(f Failure) {
	g.state.Lock()
	defer g.state.Unlock()
	if g.failure != nil || g.closed {
		return
	}
	if g.found != nil {
		f = *g.found
	}
	f.SeenBy, f.Step, f.Collective = g.rank, int(g.steps.Load()), int(g.collectives.Load())
	g.failure = &f
	close(g.done)
	g.fail(&f)
	if g.ring != nil {
		g.ring.close()
	}
	if c := g.comm.Load(); c != nil {
		go (*c).Abort(&f)
	}
}

// onLeave notes that a rank has closed its group after a number of collectives.
func (g *Group) onLeave(rank int, count int64) {
	g.state.Lock()
	g.left[rank] = count
	g.state.Unlock()
	if g.begun() > count {
		g.onFailure(g.missed(rank, count))
	}
}

// begun is the number of collectives that the rank has begun, with one in which it waits for the choice.
func (g *Group) begun() int64 { return g.collectives.Load() + g.waiting.Load() }

func (g *Group) missed(rank int, count int64) Failure {
	return g.blame(rank, fmt.Sprintf("it closed its group after %d collectives, and this rank is in one more: all ranks must make the same ones", count))
}

// watch calls f if nothing notices a failure.
func (g *Group) watch(f func(error)) {
	select {
	case <-g.failed.Done():
	case <-g.done:
	}
	g.state.Lock()
	failure := g.failure
	g.state.Unlock()
	if failure == nil {
		return
	}
	time.Sleep(unnoticed)
	g.state.Lock()
	ended := g.noticed || g.closed
	g.state.Unlock()
	if !ended {
		f(failure)
	}
}

// unnoticed is how long a failure waits for a collective that returns it.
const unnoticed = 5 * time.Second

// lostWait is how long a rank whose neighbour's connection broke waits for the cause.
const lostWait = 3 * time.Second

// goneBefore returns the failure that a rank has closed its group before a collective, nil if none has.
func (g *Group) goneBefore(number int64) *Failure {
	g.state.Lock()
	defer g.state.Unlock()
	for rank, n := range g.left {
		if number > n {
			f := g.missed(rank, n)
			return &f
		}
	}
	return nil
}

// begin counts a collective, and fails if no more can be made. The caller holds g.mu.
func (g *Group) begin(c *call) (number uint64, err error) {
	if err := g.Err(); err != nil {
		return 0, err
	}
	g.state.Lock()
	count, closed := g.collectives.Add(1), g.closed
	g.state.Unlock()
	if closed {
		return 0, fmt.Errorf("dist: %s of a Group that was closed", c.text)
	}
	if f := g.goneBefore(count); f != nil && g.size > 1 {
		g.onFailure(*f)
	}
	return uint64(count), g.Err()
}

// run makes a collective: f, after the ranks have compared their calls.
func (g *Group) run(c *call, f func(*ring) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	count, err := g.begin(c)
	if err != nil {
		return err
	}
	if g.size == 1 {
		return f(&ring{size: 1})
	}
	if err := g.await(); err != nil {
		return err
	}
	differs, err := c.compare(g.ring, count)
	if err == nil && differs == "" {
		err = f(g.ring)
	}
	g.conclude(differs, err)
	return g.Err()
}

// conclude ends the group if this rank's call differs, or if its connections are lost.
func (g *Group) conclude(differs string, err error) {
	switch {
	case differs != "":
		g.failBy(g.blame(g.rank, differs))
	case err != nil:
		select { // the control connection has the cause
		case <-g.done:
		case <-time.After(lostWait):
			g.failBy(g.blame(-1, fmt.Sprintf("rank %d lost its connection to rank %d or %d: %v", g.rank, (g.rank+g.size-1)%g.size, (g.rank+1)%g.size, err)))
		}
	}
}
