package exec_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// reversed is the elements of each row of float32s in reverse order. It counts its calls, and
// returns *fails instead where that is not nil.
func reversed(x *graph.Node, calls *int, fails *error) *graph.Node {
	n := x.Shape[len(x.Shape)-1]
	return graph.HostCall("reversed", n, "reversed", func(out graph.HostArray, in []graph.HostArray) error {
		*calls++
		if *fails != nil {
			return *fails
		}
		for i := range graph.Len(out.Shape) {
			copy(out.Data[4*i:][:4], in[0].Data[4*(i/n*n+n-1-i%n):])
		}
		return nil
	}, x)
}

func TestHostCall(t *testing.T) {
	d := newDevice()
	defer d.Close()
	var calls int
	var fails error
	x := graph.Binary(ir.Mul, floats(1, 2, 3), scalar(10, []int{3}))
	y := reversed(x, &calls, &fails)
	sum := graph.Binary(ir.Add, x, y)
	twice := reversed(graph.Binary(ir.Add, sum, x), &calls, &fails)
	if text := exec.Explain(d, []*graph.Node{twice}); strings.Count(text, "on the host: reversed of float32 [3]\n") != 2 || calls != 0 {
		t.Errorf("%d calls, plan:\n%s", calls, text)
	}
	fails = fmt.Errorf("once: %w", driver.ErrMemory)
	if err := exec.Eval(d, []*graph.Node{sum}); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("without memory: %v", err)
	}
	fails, calls = nil, 0
	for range 2 {
		if got := read(t, d, sum); !equal(got, []float32{40, 40, 40}) {
			t.Errorf("sum: %v", got)
		}
		if got := read(t, d, twice); !equal(got, []float32{70, 60, 50}) {
			t.Errorf("twice: %v", got)
		}
		if got := read(t, d, y); !equal(got, []float32{30, 20, 10}) {
			t.Errorf("y: %v", got)
		}
	}
	if calls != 2 {
		t.Errorf("%d calls, want 2: a value is stored", calls)
	}
}

// A failure on the elements is kept. It fails the nodes that depend on the call and no
// others.
func TestHostCallFails(t *testing.T) {
	d := newDevice()
	defer d.Close()
	calls, fails := 0, errors.New("the elements are bad")
	x := floats(1, 2, 3)
	y := reversed(x, &calls, &fails)
	z := graph.Binary(ir.Add, x, y)
	for range 2 {
		var host *exec.HostError
		if _, err := exec.Read(d, z); !errors.As(err, &host) || err.Error() != "reversed: the elements are bad" {
			t.Errorf("got %v", err)
		}
	}
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
	if got := read(t, d, graph.Unary(ir.Neg, x)); !equal(got, []float32{-1, -2, -3}) {
		t.Errorf("the operand: %v", got)
	}
}

// Other elements take the plans around a call from the cache, and goroutines may read a
// result that one of them computes.
func TestHostCallPlans(t *testing.T) {
	d := newDevice()
	defer d.Close()
	var mu sync.Mutex
	run := func(out graph.HostArray, in []graph.HostArray) error {
		mu.Lock()
		defer mu.Unlock()
		v := math.Float32frombits(binary.LittleEndian.Uint32(in[0].Data))
		binary.LittleEndian.PutUint32(out.Data, math.Float32bits(2*v))
		return nil
	}
	before := exec.Info().Plans
	for _, readers := range []int{1, 1, 1, 4, 4} {
		y := graph.HostCall("double", 1, nil, run, graph.Unary(ir.Neg, floats(float32(readers))))
		z := graph.Binary(ir.Add, y, y)
		var group sync.WaitGroup
		for range readers {
			group.Go(func() {
				if got, err := exec.Read(d, z); err != nil || math.Float32frombits(binary.LittleEndian.Uint32(got)) != float32(-4*readers) {
					t.Errorf("%d readers: got %v %v", readers, got, err)
				}
			})
		}
		group.Wait()
		if got := exec.Info().Plans - before; readers == 1 && got != 2 {
			t.Errorf("%d plans, want 2: of the operand, and of the sum", got)
		}
	}
}

// A long chain of unread calls, and an operand that a call and the plan both read: it is
// computed once.
func TestHostCallChain(t *testing.T) {
	d := newDevice()
	defer d.Close()
	var calls int
	var fails error
	x := floats(1, 2, 3)
	for range 300 {
		x = reversed(graph.Binary(ir.Add, x, scalar(1, []int{3})), &calls, &fails)
	}
	if got := read(t, d, graph.Unary(ir.Neg, x)); !equal(got, []float32{-301, -302, -303}) || calls != 300 {
		t.Errorf("%d calls: %v", calls, got)
	}
	operand := graph.Unary(ir.Exp, x)
	sum := graph.Binary(ir.Add, operand, reversed(operand, &calls, &fails))
	if err := exec.Eval(d, []*graph.Node{sum}); err != nil || operand.Value() == nil {
		t.Errorf("the operand was not stored: %v", err)
	}
}

// A node that is stored with a call's operand is not computed again after the call, for a result that is stored with it too.
func TestHostCallCoOutputs(t *testing.T) {
	d := newDevice()
	defer d.Close()
	var calls int
	var fails error
	x, co := floats(1, 2, 3), new(graph.CoOutputs)
	sine := graph.Unary(ir.Sin, x)
	value := graph.CoOutput(graph.Reduce(ir.Sum, graph.Binary(ir.Mul, sine, sine), []int{0}), co)
	next := graph.CoOutput(graph.Unary(ir.Neg, x), co)
	co.Nodes = append(co.Nodes, value, next)
	gradient := graph.CoOutput(graph.Binary(ir.Mul, sine, graph.Unary(ir.Cos, x)), co)
	y := graph.Binary(ir.Add, next, reversed(graph.Unary(ir.Neg, gradient), &calls, &fails))
	text := exec.Explain(d, []*graph.Node{y})
	before, after, _ := strings.Cut(text, "on the host")
	if !strings.Contains(before, "Sum") || strings.Contains(after, "Sum") || strings.Contains(after, "Sin") {
		t.Errorf("the sum is computed again:\n%s", text)
	}
}
