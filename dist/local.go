package dist

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"

	"github.com/tensorken/tensorken/tensor"
)

// Local runs f on n ranks, which are goroutines of this process, and returns when all have ended. An error
// or a panic of one makes the others' collectives fail; Local returns the first rank's error that is its
// own.
func Local(n int, f func(g *Group) error) error {
	if n < 1 || n > maxRanks {
		return fmt.Errorf("dist: Local of %d ranks: want 1 to %d", n, maxRanks)
	}
	groups := make([]*Group, n)
	links := make([]struct{ to, from net.Conn }, n)
	for i := range groups {
		groups[i] = newGroup(i, n, i)
		groups[i].control = localControl{groups, i}
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
			err = fmt.Errorf("panic: %v", p)
			g.Abort(err)
			err = fmt.Errorf("dist: rank %d: %w\n%s", g.rank, err, debug.Stack())
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

// localControl tells ranks of one process.
type localControl struct {
	groups []*Group
	rank   int
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
