package tensor_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

// Each query sees the keys up to its own position, and here finds its own.
func ExampleAttention() {
	q := tensor.Eye(3).Mul(10)
	v := tensor.New([]float32{1, 2, 3}, 3, 1)
	fmt.Println(tensor.Attention(q, q, v, &tensor.AttentionOptions{Causal: true, Scale: 1}).Round())
	// Output:
	// [[1]
	//  [2]
	//  [3]]
}

func ExampleDType() {
	x := tensor.New([]float32{0.1, 300})
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Int8} {
		fmt.Println(d, d.Size(), x.Cast(d))
	}
	// Output:
	// float16 2 [0.1 300.0]
	// bfloat16 2 [0.1 300.0]
	// int8 1 [0 127]
}

// Functions with a type parameter take elements of any type.
func ExampleElement() {
	fmt.Println(last[int32](tensor.Arange(4)))
	fmt.Println(last[float64](tensor.Linspace(0, 1, 3).Cast(tensor.Float64)))
	// Output:
	// 3 <nil>
	// 1 <nil>
}

func last[E tensor.Element](t tensor.Tensor) (E, error) {
	elements, err := tensor.Data[E](t)
	return elements[len(elements)-1], err
}

func ExampleF16() {
	x := []tensor.F16{tensor.ToF16(1), tensor.ToF16(1.0 / 3)}
	fmt.Println(tensor.New(x).Mul(3))
	fmt.Println(x[1].Float32())
	// Output:
	// [3 1]
	// 0.33325195
}

func ExampleBF16() {
	x := tensor.ToBF16(3.14159)
	fmt.Println(x.Float32(), tensor.New([]tensor.BF16{x}).DType())
	// Output: 3.140625 bfloat16
}

// A device of two threads and 64 MiB.
func ExampleCPUOptions() {
	d := tensor.NewCPU(&tensor.CPUOptions{Threads: 2, Memory: 64 << 20})
	defer d.Close()
	x := tensor.Arange(4).To(d)
	fmt.Println(x.Square(), x.Device())
	// Output: [0 1 4 9] cpu
}

func ExampleDevice() {
	d := tensor.NewCPU(nil)
	defer d.Close()
	x := tensor.Ones(2, 2).To(d)
	y := x.MatMul(x) // on d, as x is
	fmt.Println(y.Device() == d, y)
	// Output:
	// true [[2 2]
	//  [2 2]]
}

// A tensor that does not fit in the device's memory is an error of the function that computes.
func ExampleDeviceError() {
	d := tensor.NewCPU(&tensor.CPUOptions{Memory: 1 << 20})
	defer d.Close()
	err := tensor.Eval(tensor.Arange(1 << 20).To(d).Add(1))
	var failure *tensor.DeviceError
	fmt.Println(errors.As(err, &failure), failure.Op)
	// Output: true Eval
}

// A filter of differences, with a step of two.
func ExampleConvOptions() {
	x := tensor.New([]float32{1, 2, 4, 8, 16, 32}, 1, 1, 6)
	w := tensor.New([]float32{-1, 1}, 1, 1, 2)
	fmt.Println(x.Conv(w, &tensor.ConvOptions{Stride: []int{2}}))
	// Output: [[[1 4 16]]]
}

// A grid of points turns an image by a quarter.
func ExampleGridOptions() {
	x := tensor.New([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	grid := tensor.New([]float32{1, -1, 1, 1, -1, -1, -1, 1}, 1, 2, 2, 2)
	fmt.Println(x.GridSample(grid, &tensor.GridOptions{AlignCorners: true}).At(0).At(0))
	// Output:
	// [[2 4]
	//  [1 3]]
}

// An Interpolation says how elements between others are computed.
func ExampleInterpolation() {
	x := tensor.New([]float32{0, 4}, 1, 1, 2)
	for _, mode := range []tensor.Interpolation{tensor.Nearest, tensor.Linear} {
		fmt.Println(x.Resize([]int{4}, &tensor.ResizeOptions{Mode: mode}))
	}
	// Output:
	// [[[0 0 4 4]]]
	// [[[0 1 3 4]]]
}

// Marks stand for axes in an index: all of one, a new one, all others.
func ExampleMark() {
	x := tensor.Arange(24).Reshape(2, 3, 4)
	marks := []tensor.Mark{tensor.All, tensor.NewAxis, tensor.Ellipsis}
	for _, m := range marks {
		fmt.Println(x.Index(0, m).Shape())
	}
	// Output:
	// [3 4]
	// [1 3 4]
	// [3 4]
}

// A Range is an index with a start, an end and a step.
func ExampleRange() {
	x := tensor.Arange(10)
	odd := tensor.Range{Start: 1, Stop: tensor.End, Step: 2}
	fmt.Println(x.Index(odd))
	fmt.Println(x.Index(tensor.Span(-3, tensor.End)))
	// Output:
	// [1 3 5 7 9]
	// [7 8 9]
}

// An Operand is a tensor or a number, which takes the tensor's type.
func ExampleOperand() {
	x := tensor.New([]int32{1, 2, 3})
	for _, o := range []tensor.Operand{10, x} {
		fmt.Println(x.Mul(o))
	}
	// Output:
	// [10 20 30]
	// [1 4 9]
}

func ExamplePadMode() {
	x := tensor.Arange(4)
	for _, mode := range []tensor.PadMode{tensor.Reflect, tensor.Replicate, tensor.Circular} {
		fmt.Println(x.PadMode(0, 2, 2, mode))
	}
	// Output:
	// [2 1 0 1 2 3 2 1]
	// [0 0 0 1 2 3 3 3]
	// [2 3 0 1 2 3 0 1]
}

// An RNG with the same seed and count draws the same numbers.
func ExampleRNG() {
	r := tensor.NewRNG(1)
	r.Uniform(3)
	again := &tensor.RNG{Seed: 1, Count: r.Count}
	fmt.Println(r.Ints(6, 4))
	fmt.Println(again.Ints(6, 4))
	// Output:
	// [5 5 2 1]
	// [5 5 2 1]
}

// Times differ from run to run; the kernels do not.
func ExampleTrace() {
	x := tensor.Arange(1000).Keep()
	trace := tensor.Profile(func() { tensor.Eval(x.Cast(tensor.Float32).Exp().Sum()) })
	var total time.Duration
	for _, k := range trace.Kernels {
		fmt.Println(k.Device, k.Template, k.Name)
		total += k.Duration
	}
	fmt.Println(total <= trace.Wall)
	// Output:
	// cpu reduce [ | 1000] int32 Cast Exp Sum
	// true
}

// A Peak is the greatest speed of a device, which a Trace compares kernels with.
func ExamplePeak() {
	x := tensor.Ones(64, 64).Keep()
	trace := tensor.Profile(func() { tensor.Eval(x.MatMul(x)) })
	var peak tensor.Peak = trace.Peaks[tensor.CPU()]
	fmt.Println(peak.FLOPs > 0, peak.Bytes > 0)
	// Output: true true
}

// A KernelTime is one kernel of a Trace.
func ExampleKernelTime() {
	longest := func(t *tensor.Trace) (k tensor.KernelTime) {
		for _, x := range t.Kernels {
			if x.Duration > k.Duration {
				k = x
			}
		}
		return k
	}
	x := tensor.New(make([]float32, 64*64), 64, 64)
	k := longest(tensor.Profile(func() { tensor.Eval(x.MatMul(x)) }))
	fmt.Println(k.FLOPs, "operations,", k.Bytes, "bytes")
	// Output: 524288 operations, 49152 bytes
}

// Plans are found again: a loop over equal shapes compiles once.
func ExampleStats() {
	x := tensor.Arange(8).Cast(tensor.Float64)
	var before, after tensor.Stats
	for i := range 3 {
		x = x.Sin().Add(1)
		if err := tensor.Eval(x); err != nil {
			panic(err)
		}
		if i == 0 {
			before = tensor.Info()
		}
	}
	after = tensor.Info()
	fmt.Println(after.Plans-before.Plans < 2, after.Programs-before.Programs < 2) // a full cache drops old ones
	// Output: true true
}

func ExampleTensor_Dim() {
	x := tensor.Zeros(2, 3, 4).To(tensor.CPU())
	fmt.Println(x.Dim(0), x.Dim(-1), x.Rank(), x.Len(), x.DType(), x.Device())
	// Output: 2 4 3 24 float32 cpu
}

func ExampleTensor_Sub() {
	x := tensor.New([]float32{1, 5, 2})
	fmt.Println(x.Sub(x.Mean()).Abs())
	// Output: [1.6667 2.3333 0.6667]
}
