package loops

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// kernel returns its kernel as a program.
func kernel(k *ir.Kernel) (driver.Program, error) { return k, nil }

type buffer int

func (b buffer) Size() int { return int(b) }
func (b buffer) Free()     {}

// expand expands calls with temporaries of their sizes.
func expand(calls ...driver.Call) (list []driver.Call, counts []int, err error) {
	var temps []driver.Buffer
	for _, n := range Temps(calls) {
		temps = append(temps, buffer(n))
	}
	return Expand(calls, temps)
}

// A loop's calls go through parts and blocks in order, with a clear at the start of each part.
func TestExpand(t *testing.T) {
	rows := ir.StageArg{Index: 0, Steps: []ir.RowStep{{Mod: 10, Div: 1, Mul: 3}}}
	body, last := &ir.Kernel{Template: ir.Pointwise}, &ir.Kernel{Template: ir.Reduce}
	args := []ir.StageArg{rows, {Temp: true}, {Index: -1, Steps: rows.Steps}}
	l := &ir.Loop{
		Args: []ir.Arg{{Kind: ir.Out, DType: ir.Float32}}, Temps: []ir.Temp{{DType: ir.Float16, Len: 6}},
		Rows: 10, Matrix: 5, Part: 4, Block: 2, Clears: []ir.Clear{{Arg: rows, Len: 7}},
		Body: []ir.Stage{{Kernel: body, Args: args}}, Last: []ir.Stage{{Kernel: last, Args: args}},
	}
	p, err := Compile(l, kernel)
	if err != nil {
		t.Fatal(err)
	}
	own := driver.Call{Program: body}
	list, counts, err := expand(own, driver.Call{Program: p, Args: []driver.Arg{{Buffer: buffer(120), Offset: 100}}}, own)
	if err != nil || !slices.Equal(counts, []int{1, 10, 1}) || len(list) != 12 {
		t.Fatalf("Expand gives %d calls, %v, %v", len(list), counts, err)
	}
	type call struct {
		template ir.Template
		row      int
		clears   bool
	}
	var got []call
	for _, c := range list[1:11] {
		k := c.Program.(*ir.Kernel)
		got = append(got, call{k.Template, (c.Args[0].Offset - 100) / 3, len(c.Args) == 1})
		if len(c.Args) == 1 {
			if err := ir.Verify(k); err != nil || k.Args[0].Len != 7 {
				t.Errorf("the kernel that clears: %v\n%v", err, k)
			}
		} else if c.Args[1].Buffer != buffer(12) || int(c.Args[2].Num) != c.Args[0].Offset-100 {
			t.Errorf("arguments %v", c.Args)
		}
	}
	want := []call{
		{ir.Pointwise, 0, true}, {ir.Pointwise, 0, false}, {ir.Pointwise, 2, false}, {ir.Pointwise, 4, true}, {ir.Reduce, 4, false},
		{ir.Pointwise, 5, true}, {ir.Pointwise, 5, false}, {ir.Pointwise, 7, false}, {ir.Pointwise, 9, true}, {ir.Reduce, 9, false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("calls %v, want %v", got, want)
	}
}

func TestExpandFails(t *testing.T) {
	full := errors.New("full")
	p, err := Compile(&ir.Loop{Rows: 2, Matrix: 2, Part: 2, Block: 2}, kernel)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := expand(driver.Call{Program: p, Args: make([]driver.Arg, 1)}); err == nil {
		t.Error("an argument too many is no error")
	}
	for _, broken := range []*ir.Loop{{Body: make([]ir.Stage, 1)}, {Last: make([]ir.Stage, 1)}, {Args: []ir.Arg{{DType: ir.Float32}}, Clears: make([]ir.Clear, 1)}} {
		if _, err := Compile(broken, func(*ir.Kernel) (driver.Program, error) { return nil, full }); !errors.Is(err, full) {
			t.Errorf("a kernel that does not compile: %v, want %v", err, full)
		}
	}
}

func TestTimed(t *testing.T) {
	at := func(start, duration int) driver.Span {
		return driver.Span{Start: time.Unix(0, int64(start)), Duration: time.Duration(duration)}
	}
	kernels := driver.Timed{at(1, 1), at(3, 2), at(6, 1), at(9, 3)}
	for _, c := range []struct {
		counts []int
		want   []driver.Span
	}{
		{nil, kernels},
		{[]int{1, 2, 1}, []driver.Span{at(1, 1), at(3, 3), at(9, 3)}},
	} {
		if got, err := Timed(kernels, c.counts).Spans(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("spans of %v calls: %v, %v, want %v", c.counts, got, err, c.want)
		}
	}
}
