package gpu

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// totalNumbers is the number of parameters of total: more than a slot has.
const totalNumbers = 150

// total stores the sum of its numbers and of an input's first word.
var total = sources{passes: []source{{text: "total", pass: &shader.Pass{
	Buffers: []*shader.Buffer{{Arg: 0, Write: true}, {Arg: 1}},
	Grid:    [3]int{1, 1, 1},
	Params:  numbersFrom(2, totalNumbers),
}}}}

func numbersFrom(arg, n int) (list []*shader.Param) {
	for i := range n {
		list = append(list, &shader.Param{Arg: arg + i})
	}
	return list
}

// Parameters of one dispatch may take several slots of the uniform buffer, beside dispatches that take one.
func TestManyParameters(t *testing.T) {
	d, _ := fake(t, 0)
	k := &ir.Kernel{Args: slices.Clone(incrementArgs[:2])}
	for range totalNumbers {
		k.Args = append(k.Args, incrementArgs[2])
	}
	many, err := d.build(&total, schedule.SignatureOf(k, d.Target))
	if err != nil {
		t.Fatal(err)
	}
	one := prepare(t, d, &increment)
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	for round := range maxUniforms / 2 {
		args, want := []driver.Arg{{Buffer: b}, {Buffer: a}}, uint32(5)
		for i := range totalNumbers {
			args = append(args, driver.Arg{Num: ir.Number(round * i)})
			want += uint32(round * i)
		}
		back := []driver.Arg{{Buffer: a}, {Buffer: b}, {Num: 3}}
		calls := []driver.Call{{Program: many, Args: args}, {Program: one, Args: back}, {Program: many, Args: args}, {Program: one, Args: back}}
		testCalls(t, d, calls, a, 5, a, 2*want-5+6)
	}
}

// A kernel of many numbers of 64 bits computes as the CPU does.
func TestManyWideNumbers(t *testing.T) {
	dev := deviceOf(t, real(t, wgpu.Options{Validate: true}))
	f := func(x tensor.Tensor) tensor.Tensor {
		for i := range 20 {
			x = x.Mul(3 + 2*i).Add(1<<40 + i)
		}
		return x
	}
	x := tensor.New([]int64{-1, 0, 7, 1 << 50})
	got, err := tensor.Data[int64](f(x.To(dev)))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := tensor.Data[int64](f(x)); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %d, want %d, %v", got, want, err)
	}
}

// Parameters that the uniform buffer has still are not written again, and others take their place
// once it is full.
func TestUniforms(t *testing.T) {
	d, f := fake(t, 0)
	p := prepare(t, d, &increment)
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	const n = 200
	run := func(round int) (writes int) {
		t.Helper()
		calls, sum := chain(p, n, a, b), uint32(0)
		for i := range calls {
			calls[i].Args[2].Num += ir.Number(n * round)
			sum += uint32(n*round + i)
		}
		before := f.Writes
		testCalls(t, d, calls, a, 0, a, sum)
		return f.Writes - before - 1 // the upload
	}
	rounds := 3 * maxUniforms / n
	for r := range rounds {
		if run(r) == 0 || run(r) != 0 || r > 3 && run(r-3) != 0 {
			t.Fatalf("round %d: new parameters are to be written, and those of the last rounds not", r)
		}
	}
	if run(0) == 0 {
		t.Error("parameters that others replaced are not written")
	}
	f.Fail("a bad day")
	if err := d.Sync(); err == nil {
		t.Error("Sync tells no failure")
	}
	if run(0) == 0 {
		t.Error("after a failure, which may be that of a write, parameters are not written again")
	}
}
