package dist

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

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

func (o *Options) withDefaults() Options {
	var x Options
	if o != nil {
		x = *o
	}
	for _, s := range []struct {
		d *time.Duration
		v time.Duration
	}{{&x.Deadline, time.Minute}, {&x.Silence, 6 * time.Second}, {&x.Stall, 10 * time.Minute}} {
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
	peers             []peer // by rank

	mu          sync.Mutex // of a collective
	collectives atomic.Int64
	steps       atomic.Int64

	state   sync.Mutex
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
	report(Failure)    // that one of them failed
	leave(count int64) // that this rank has done its last collective
	close()
}

func newGroup(rank, size, local int) *Group {
	g := &Group{rank: rank, size: size, local: local, peers: make([]peer, size), left: map[int]int64{}, done: make(chan struct{})}
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

// Close says that this rank makes no more collectives. Another rank that waits for one fails. It returns
// the failure of the group, if there was one.
func (g *Group) Close() error {
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
		f := g.blame(g.rank, err.Error())
		g.control.report(f)
		g.onFailure(f)
	}
	return g.Err()
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
	f.SeenBy, f.Step, f.Collective = g.rank, int(g.steps.Load()), int(g.collectives.Load())
	g.failure = &f
	close(g.done)
	g.fail(&f)
	if g.ring != nil {
		g.ring.close()
	}
}

// onLeave notes that a rank has closed its group after a number of collectives.
func (g *Group) onLeave(rank int, count int64) {
	g.state.Lock()
	g.left[rank] = count
	g.state.Unlock()
	if g.collectives.Load() > count {
		g.onFailure(g.missed(rank, count))
	}
}

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

// run makes a collective: f, after the ranks have compared their calls.
func (g *Group) run(c *call, f func(*ring) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.Err(); err != nil {
		return err
	}
	g.state.Lock()
	count := g.collectives.Add(1)
	closed := g.closed
	var gone *Failure
	for rank, n := range g.left {
		if count > n {
			f := g.missed(rank, n)
			gone = &f
		}
	}
	g.state.Unlock()
	if closed {
		return fmt.Errorf("dist: %s of a Group that was closed", c.text)
	}
	if g.size == 1 {
		return f(&ring{size: 1})
	}
	if gone != nil {
		g.onFailure(*gone)
		return g.Err()
	}
	differs, err := c.compare(g.ring, uint64(count))
	if err == nil && differs == "" {
		err = f(g.ring)
	}
	switch {
	case differs != "":
		x := g.blame(g.rank, differs)
		g.control.report(x)
		g.onFailure(x)
	case err != nil:
		select { // the control connection has the cause
		case <-g.done:
		case <-time.After(lostWait):
			x := g.blame(-1, fmt.Sprintf("rank %d lost its connection to rank %d or %d: %v", g.rank, (g.rank+g.size-1)%g.size, (g.rank+1)%g.size, err))
			g.control.report(x)
			g.onFailure(x)
		}
	}
	return g.Err()
}
