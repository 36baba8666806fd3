package dist

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

// Local runs f on n ranks, which are goroutines of this process, and returns when all have ended. An error
// or a panic of one makes the others' collectives fail; Local returns the first rank's error that is its
// own. A rank must not read tensors of another rank's device in a step: each would wait for the other.
func Local(n int, f func(g *Group) error) error {
	if n < 1 || n > maxRanks {
		return fmt.Errorf("dist: Local of %d ranks: want 1 to %d", n, maxRanks)
	}
	groups := make([]*Group, n)
	devices := &localAgreement{agreement: newAgreement(n), groups: groups}
	links := make([]struct{ to, from net.Conn }, n)
	for i := range groups {
		groups[i] = newGroup(i, n, i)
		groups[i].control = localControl{groups, i, devices}
		for k := range n {
			groups[i].peers[k].Rank = k
		}
		links[i].to, links[(i+1)%n].from = net.Pipe()
	}
	for i, g := range groups {
		g.ring = &ring{link: newStreamLink(links[i].to, links[i].from), rank: i, size: n}
	}
	errs := make([]error, n)
	var running sync.WaitGroup
	for i, g := range groups {
		running.Go(func() {
			errs[i] = g.runRank(f)
			g.Close()
		})
	}
	running.Wait()
	var failure error
	for i, err := range errs {
		if err != nil && (failure == nil || groups[i].failure == nil || groups[i].failure.Rank == i) {
			failure = err
		}
	}
	return failure
}

// runRank calls f, and makes the others fail if it fails.
func (g *Group) runRank(f func(g *Group) error) (err error) {
	ended := false
	defer func() {
		if p := recover(); p != nil {
			g.Abort(fmt.Errorf("panic: %v", p))
			err = &panicError{g.rank, p, debug.Stack()}
			return
		}
		if !ended { // runtime.Goexit, as t.Fatal calls it
			g.Abort(errors.New("its goroutine ended"))
			g.Close()
		} else if err != nil {
			g.Abort(err)
		}
	}()
	failed := tensor.Try(func() { err = f(g) })
	ended = true
	return cmp.Or(failed, err)
}

// A panicError is the panic of a rank. Its text is one line, for a log; the stack, with paths of the
// machine that built the program, is for a debugger.
type panicError struct {
	rank  int
	value any
	Stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("dist: rank %d: panic: %s", e.rank, strings.Join(strings.Fields(fmt.Sprint(e.value)), " "))
}

// Unwrap returns the panic's value if it is an error.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// localControl tells ranks of one process.
type localControl struct {
	groups  []*Group
	rank    int
	devices *localAgreement
}

// A localAgreement is the agreement of ranks of one process.
type localAgreement struct {
	mu sync.Mutex
	*agreement
	groups []*Group
}

// localPause is the time between two looks at ranks that may begin a collective without an offer.
const localPause = 10 * time.Millisecond

func (c localControl) offer(o offer, id func() ([]byte, error)) {
	c.devices.mu.Lock()
	c.devices.offers[c.rank], c.devices.id = &o, id // anyone's
	c.devices.mu.Unlock()
	if c.devices.choose() {
		return
	}
	go func() {
		g := c.groups[c.rank]
		for {
			select {
			case <-g.done:
				return
			case <-g.chosen:
				return
			case <-time.After(localPause):
				c.devices.choose()
			}
		}
	}()
}

// choose gives all ranks the choice, once it is clear.
func (a *localAgreement) choose() bool {
	counts := make([]int64, len(a.groups))
	for i, g := range a.groups {
		counts[i] = g.collectives.Load()
	}
	a.mu.Lock()
	c, rank, cause := a.decide(counts)
	id := a.id
	a.mu.Unlock()
	if cause != "" {
		a.groups[rank].failBy(a.groups[rank].blame(rank, cause))
	}
	if c != nil {
		c.identify(id)
		for _, g := range a.groups {
			g.onChoice(*c)
		}
	}
	return c != nil
}

func (c localControl) report(f Failure) {
	for i, g := range c.groups {
		if i != c.rank {
			g.onFailure(f)
		}
	}
}

func (c localControl) leave(count int64) {
	for i, g := range c.groups {
		if i != c.rank {
			g.onLeave(c.rank, count)
		}
	}
}

func (c localControl) close() {}
