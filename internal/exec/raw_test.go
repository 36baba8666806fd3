package exec_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A rawDevice is a CPU with a language of one word, which adds the first two operands. It counts
// compilations, and fails once where fails is set.
type rawDevice struct {
	driver.Device
	compiled int
	fails    error
}

// Limits makes the device one that takes a call at a time.
func (d *rawDevice) Limits() driver.Limits {
	l := d.Device.Limits()
	l.Concurrent = false
	return l
}

func (d *rawDevice) Language() string { return "words" }

func (d *rawDevice) CompileRaw(k *ir.RawKernel) (driver.Program, error) {
	d.compiled++
	if k.Text != "add" {
		return nil, fmt.Errorf("%w: no such word", driver.ErrSource)
	}
	return k, nil
}

func (d *rawDevice) Run(calls []driver.Call) error {
	for _, c := range calls {
		if _, ok := c.Program.(*ir.RawKernel); !ok {
			if err := d.Device.Run([]driver.Call{c}); err != nil {
				return err
			}
			continue
		}
		if err := d.fails; err != nil {
			d.fails = nil
			return err
		}
		var data [3][]byte
		for i := range data {
			var err error
			if data[i], err = d.Device.(driver.Viewer).View(c.Args[i].Buffer); err != nil {
				return err
			}
		}
		for i := range int(c.Args[3].Num) {
			at := func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])) }
			binary.LittleEndian.PutUint32(data[2][4*i:], math.Float32bits(at(data[0])+at(data[1])))
		}
	}
	return nil
}

// raw is a kernel of n elements whose text is a word.
func raw(word string, n int, src ...*graph.Node) *graph.Node {
	in := ir.Arg{Kind: ir.In, DType: ir.Float32, Len: n}
	return graph.KernelCall(&graph.HostFunc{Op: "Kernel raw", Kernel: &graph.Kernel{
		Texts:     map[string]string{"words": word},
		RawKernel: ir.RawKernel{Args: []ir.Arg{in, in, {Kind: ir.Out, DType: ir.Float32, Len: n}, {Kind: ir.Value, DType: ir.Uint32}}},
	}}, ir.Float32, []int{n}, src...)
}

func TestRaw(t *testing.T) {
	drv := &rawDevice{Device: cpu.New(cpu.Options{})}
	d := exec.New(drv)
	defer d.Close()
	x := floats(1, 2, 3)
	negated := graph.Unary(ir.Neg, raw("add", 3, graph.Flip(x, []int{0}), raw("add", 3, x, x)))
	if text := exec.Explain(d, []*graph.Node{negated}); strings.Count(text, "words: Kernel raw of float32 [3] float32 [3]") != 2 || drv.compiled != 0 {
		t.Errorf("%d compiled, plan:\n%s", drv.compiled, text)
	}
	drv.fails = driver.ErrMemory // once, so that another try succeeds
	for range 2 {
		if got := read(t, d, negated); !equal(got, []float32{-5, -6, -7}) || drv.compiled != 1 {
			t.Errorf("got %v, %d compiled", got, drv.compiled)
		}
	}
	if got := read(t, d, raw("add", 0, floats(), floats())); len(got) != 0 {
		t.Errorf("of no elements: %v", got)
	}
	for word, refused := range map[string]bool{"sub": true, "": false} { // without a word, there is no function in Go
		y := raw(word, 3, x, x)
		for range 2 {
			var host *exec.HostError
			if err := exec.Eval(d, []*graph.Node{y}); !errors.As(err, &host) || errors.Is(err, driver.ErrSource) != refused {
				t.Errorf("%q: %v", word, err)
			}
		}
	}
	index := graph.Buffer(ir.Int32, []int{3}, ints(0, 7, 1).Value())
	bad := raw("add", 3, x, graph.At(graph.NewIndexSite("Take", []int{3}), graph.Gather(x, index, 0)))
	if err := exec.Eval(d, []*graph.Node{bad}); err == nil || !strings.Contains(err.Error(), "index 7") {
		t.Errorf("an operand with a bad index: %v", err)
	}
}

// TestRecordedRaw runs a recording with a kernel that reads an argument, and the result of a plan.
func TestRecordedRaw(t *testing.T) {
	drv := &rawDevice{Device: cpu.New(cpu.Options{})}
	d := exec.New(drv)
	defer d.Close()
	graphOf := func(word string) trace {
		return newTrace(func(x, y, k *graph.Node) []*graph.Node {
			return []*graph.Node{graph.Binary(ir.Add, raw(word, 2, y, graph.Binary(ir.Mul, k, x)), y)}
		})
	}
	r := graphOf("add").record(t, d)
	for i := range 3 {
		v := float32(i)
		out, err := r.Run(nil, []*graph.Node{floats(v, 2), floats(10, 20)}, numbers(3))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, d, out[0]); !equal(got, []float32{20 + 3*v, 46}) {
			t.Errorf("run %d: %v", i, got)
		}
	}
	for word, want := range map[string]bool{"add": true, "sub": false} {
		again := graphOf(word)
		if got := r.Repeats(again.args, again.numbers, again.roots, nil); got != want {
			t.Errorf("%q repeats: %v", word, got)
		}
	}
}
