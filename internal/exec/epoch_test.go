package exec_test

import (
	"errors"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// failing is an asynchronous device. While it fails, it drops uploads; while it is full,
// it drops runs, and the first allocation after such a run fails.
type failing struct {
	driver.Device
	fails, full bool
	failed      error // that Download and Sync return
}

var errBadDay = errors.New("a bad day")

func (d *failing) Limits() driver.Limits {
	l := d.Device.Limits()
	l.Async, l.Concurrent = true, false
	return l
}

func (d *failing) Upload(dst driver.Buffer, offset int, src []byte) error {
	if d.fails {
		d.failed = errBadDay
		return nil
	}
	return d.Device.Upload(dst, offset, src)
}

func (d *failing) Run(calls []driver.Call) error {
	if d.full {
		d.failed = driver.ErrMemory
		return nil
	}
	return d.Device.Run(calls)
}

func (d *failing) Alloc(n int) (driver.Buffer, error) {
	if d.full && d.failed != nil {
		d.full = false
		return nil, driver.ErrMemory
	}
	return d.Device.Alloc(n)
}

func (d *failing) Download(dst []byte, src driver.Buffer, offset int) error {
	if d.failed != nil {
		return d.failed
	}
	return d.Device.Download(dst, src, offset)
}

func (d *failing) Sync() error {
	err := d.failed
	d.failed = nil
	return err
}

// A failure of the device fails the work submitted in its epoch, and all that is computed
// from the results; nothing else fails.
func TestFailureAmongWork(t *testing.T) {
	for _, tell := range []string{"Sync", "Read"} {
		drv := &failing{Device: cpu.New(cpu.Options{})}
		dev := exec.New(drv)
		compute := func(n *graph.Node) *graph.Node {
			if err := exec.Eval(dev, []*graph.Node{n}); err != nil {
				t.Fatalf("%s: Eval: %v, want that it is told later", tell, err)
			}
			return n
		}
		plus := func(n *graph.Node) *graph.Node { return graph.Binary(ir.Add, n, scalar(1, n.Shape)) }
		host := floats(1, 2, 3)
		before := compute(plus(floats(7)))
		if err := dev.Sync(); err != nil {
			t.Fatal(err)
		}
		early := compute(plus(floats(5)))
		drv.fails = true
		late, other := compute(plus(host)), compute(plus(plus(host)))
		gathered := compute(graph.Gather(floats(1, 2, 3), ints(1), 0))
		drv.fails = false

		told := dev.Sync
		if tell == "Read" {
			told = func() error { _, err := exec.Read(dev, early); return err }
		}
		if err := told(); !errors.Is(err, errBadDay) {
			t.Errorf("%s after a failure: got error %v, want %v", tell, err, errBadDay)
		}
		for range 2 {
			for name, n := range map[string]*graph.Node{"early": early, "late": late, "other": other, "gathered": gathered, "late+1": plus(late)} {
				if _, err := exec.Read(dev, n); !errors.Is(err, errBadDay) {
					t.Errorf("%s tells, then Read(%s): got error %v, want %v", tell, name, err, errBadDay)
				}
			}
		}
		if got := read(t, dev, plus(before)); !equal(got, []float32{9}) {
			t.Errorf("%s tells, then before+1: got %v, want 9", tell, got)
		}
		if got := read(t, dev, plus(host)); !equal(got, []float32{2, 3, 4}) {
			t.Errorf("%s tells, then host+1: got %v, want 2, 3 and 4", tell, got)
		}
		if err := dev.Sync(); err != nil {
			t.Errorf("%s tells, then Sync: %v", tell, err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}

// While the device makes room for b it learns that a was not computed, for lack of memory
// too. Then b must not be computed from a.
func TestFailureWhileRoomIsMade(t *testing.T) {
	drv := &failing{Device: cpu.New(cpu.Options{}), full: true}
	dev := exec.New(drv)
	plus := func(n *graph.Node) *graph.Node { return graph.Binary(ir.Add, n, scalar(1, n.Shape)) }
	a := plus(floats(1, 2, 3))
	if err := exec.Eval(dev, []*graph.Node{a}); err != nil {
		t.Fatalf("Eval(a): %v, want that it is told later", err)
	}
	b := plus(a)
	if err := exec.Eval(dev, []*graph.Node{b}); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("Eval(a+1) where a is lost: got error %v, want %v", err, driver.ErrMemory)
	}
	if _, err := exec.Read(dev, b); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("Read(a+1) where a is lost: got error %v, want %v", err, driver.ErrMemory)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}

// mute is a device whose reads fail while err is set.
type mute struct {
	driver.Device
	err error
}

func (d *mute) Download(dst []byte, src driver.Buffer, offset int) error {
	if d.err != nil {
		return d.err
	}
	return d.Device.Download(dst, src, offset)
}

// Elements that a plan has overwritten are gone, even if the plan fails because its reports
// cannot be read.
func TestOverwrittenIsGone(t *testing.T) {
	drv := &mute{Device: cpu.New(cpu.Options{})}
	dev := exec.New(drv)
	x := graph.Unary(ir.Exp, floats(0, 0, 0))
	read(t, dev, x)
	storage.Donate([]*graph.Node{x}, &storage.GoneError{Op: "a test"})
	drv.err = errBadDay
	if err := exec.Eval(dev, []*graph.Node{graph.Unary(ir.Neg, x), graph.Gather(floats(1, 2, 3), ints(1), 0)}); !errors.Is(err, errBadDay) {
		t.Errorf("got error %v, want %v", err, errBadDay)
	}
	drv.err = nil
	var gone *storage.GoneError
	if got, err := exec.Read(dev, x); !errors.As(err, &gone) {
		t.Errorf("got %v and error %v, want that the elements are gone", got, err)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}
