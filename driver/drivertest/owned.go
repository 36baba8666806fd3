package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// Owned compares n random graphs with random donations, in random regions, with the same graphs without.
// A read of a donated tensor has to be an error, and never other elements.
func Owned(t *testing.T, open func() (driver.Device, error), n int, seed uint64) {
	compile.Verify()
	drv, err := open()
	if err != nil {
		t.Fatal(err)
	}
	dev := exec.New(drv)
	defer dev.Close()
	taken := 0
	for i := range n {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		p := generate(r, drv.Limits().Types)
		x := &owned{program: p, Rand: r, dev: dev}
		if err := x.compare(); err != nil {
			t.Fatalf("seed %d, graph %d: %v\n%v", seed, i, err, p)
		}
		taken += x.gone
	}
	if n > 100 && taken < n/2 {
		t.Errorf("of %d graphs %d tensors are gone: too few to tell", n, taken)
	}
}

// An owned is a program whose stored nodes are donated and freed at random.
type owned struct {
	*program
	*rand.Rand
	dev  *exec.Device
	gone int // nodes whose memory was given away
}

// compare runs the program without donations and with them.
func (x *owned) compare() error {
	turns := x.someTurns()
	want, err := x.plain(turns)
	if err != nil {
		return err
	}
	copies := x.copies()
	var stored []*graph.Node // of the program, with a value in the copy
	for n, c := range copies {
		if n.Op == ir.Buffer && c.Value().Store != nil {
			stored = append(stored, n)
		}
	}
	for k := range turns {
		if x.IntN(2) == 0 {
			stored, err = x.turn(turns, k, copies, stored, want)
		} else {
			r := graph.EnterRegion()
			stored, err = x.turn(turns, k, copies, stored, want)
			r.Leave()
			storage.EndRegion(r, values(copies, x.needed(turns[k+1:])), &storage.GoneError{Op: "a region"})
			r.Release()
		}
		if err != nil {
			return fmt.Errorf("turn %d: %w", k, err)
		}
		if err := x.look(copies, want, fmt.Sprintf("after turn %d", k)); err != nil {
			return err
		}
	}
	return nil
}

// turn computes the roots of turn k. Before, it donates some stored nodes that no later turn needs.
func (x *owned) turn(turns [][]*graph.Node, k int, copies map[*graph.Node]*graph.Node, stored []*graph.Node, want map[*graph.Node][]byte) ([]*graph.Node, error) {
	later := map[graph.Store]bool{} // views share it
	for _, n := range x.needed(turns[k+1:]) {
		if v := copies[n].Value(); v != nil {
			later[v.Store] = true
		}
	}
	var donated []*graph.Node
	for _, n := range stored {
		if !later[copies[n].Value().Store] && x.IntN(3) > 0 {
			donated = append(donated, copies[n])
		}
	}
	storage.Donate(donated, &storage.GoneError{Op: "a donation"})
	if err := exec.Eval(x.dev, values(copies, turns[k])); err != nil {
		return nil, err
	}
	for _, n := range turns[k] {
		got, err := exec.Read(x.dev, copies[n])
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(got, want[n]) {
			return nil, fmt.Errorf("%v %v %v is\n% x, want\n% x", n.Op, n.DType, n.Shape, got, want[n])
		}
	}
	return append(stored, turns[k]...), nil
}

// look checks that each stored node has the right elements, or is gone.
func (x *owned) look(copies map[*graph.Node]*graph.Node, want map[*graph.Node][]byte, when string) error {
	x.gone = 0
	for n, w := range want {
		if copies[n].Value() == nil {
			continue
		}
		got, err := exec.Read(x.dev, copies[n])
		var gone *storage.GoneError
		switch {
		case errors.As(err, &gone):
			x.gone++
		case err != nil:
			return fmt.Errorf("%s, %v %v %v: %w", when, n.Op, n.DType, n.Shape, err)
		case !bytes.Equal(got, w):
			return fmt.Errorf("%s, %v %v %v is\n% x, want\n% x", when, n.Op, n.DType, n.Shape, got, w)
		}
	}
	return nil
}

// plain returns the elements of the leaves and of the roots of turns.
func (x *owned) plain(turns [][]*graph.Node) (map[*graph.Node][]byte, error) {
	copies, want := x.copies(), map[*graph.Node][]byte{}
	read := func(n *graph.Node) (err error) {
		want[n], err = exec.Read(x.dev, copies[n])
		return err
	}
	for n := range copies {
		if n.Op == ir.Buffer {
			if err := read(n); err != nil {
				return nil, err
			}
		}
	}
	for _, turn := range turns {
		if err := exec.Eval(x.dev, values(copies, turn)); err != nil {
			return nil, err
		}
		for _, n := range turn {
			if err := read(n); err != nil {
				return nil, err
			}
		}
	}
	return want, nil
}

// copies returns a copy of each node of the program. Leaves are stored on the device, or on the host.
func (x *owned) copies() map[*graph.Node]*graph.Node {
	replaced := map[*graph.Node]*graph.Node{}
	for _, n := range graph.Sorted(x.roots()) {
		if n.Op != ir.Buffer || n.Len() == 0 || n.Len()%3 == 0 {
			continue
		}
		c := graph.Copy(n)
		if exec.Eval(x.dev, []*graph.Node{c}) == nil {
			replaced[n] = c
		}
	}
	return copied(x.roots(), replaced)
}

// someTurns returns the roots of the program and other nodes, in turns.
func (x *owned) someTurns() (turns [][]*graph.Node) {
	roots := map[*graph.Node]bool{}
	for _, n := range x.roots() {
		roots[n] = true
	}
	turns = [][]*graph.Node{nil}
	for _, n := range graph.Sorted(x.roots()) {
		if n.Op.Class() == ir.Source || !roots[n] && x.IntN(4) > 0 {
			continue
		}
		if x.IntN(3) == 0 {
			turns = append(turns, nil)
		}
		turns[len(turns)-1] = append(turns[len(turns)-1], n)
	}
	return turns
}

// needed returns the nodes that turns read or are.
func (x *owned) needed(turns [][]*graph.Node) (all []*graph.Node) {
	for _, turn := range turns {
		all = append(all, graph.Sorted(turn)...)
	}
	return all
}

func values(copies map[*graph.Node]*graph.Node, nodes []*graph.Node) (list []*graph.Node) {
	for _, n := range nodes {
		list = append(list, copies[n])
	}
	return list
}
