package grad_test

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// squared is x·x.
var squared = tensor.Kernel{
	Name: "square", Operands: []string{"x"},
	Go: func(out tensor.Array, in []tensor.Array) error {
		for i, x := range tensor.Elements[float32](in[0]) {
			if x == 99 {
				return errors.New("99 is not squared")
			}
			tensor.Elements[float32](out)[i] = x * x
		}
		return nil
	},
	WGSL: `
@compute @workgroup_size(threads)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < n) { out[id.x] = x[id.x] * x[id.x]; }
}`,
}

// deviceOf opens the device that TENSORKEN_DEVICE names, by default the CPU.
func deviceOf(t *testing.T) *tensor.Device {
	d, _, err := device.Open(cmp.Or(os.Getenv("TENSORKEN_DEVICE"), "cpu"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// elements32 returns the elements of a tensor, nil if they cannot be read.
func elements32(x tensor.Tensor) []float32 {
	elements, _ := tensor.Data[float32](x)
	return elements
}

func TestKernel(t *testing.T) {
	d := deviceOf(t)
	x := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3).To(d)
	y := squared.Call(x.Add(1).Transpose(0, 1)).Sub(1)
	if text := tensor.Explain(y); !strings.Contains(text, ": Kernel square of float32 [3 2]") {
		t.Errorf("Explain: %s", text)
	}
	if got, want := elements32(y), []float32{3, 24, 8, 35, 15, 48}; !slices.Equal(got, want) {
		t.Errorf("square: got %v, want %v", got, want)
	}
	for _, v := range []tensor.Tensor{x.Slice(0, 1, 2), x.Flip(1), tensor.Ones(2).To(d), tensor.ZerosOf(tensor.Float32, 0, 3).To(d), tensor.ZerosOf(tensor.Float32).To(d)} {
		if got, want := elements32(squared.Call(v)), elements32(v.Square()); !slices.Equal(got, want) {
			t.Errorf("square of %v: got %v, want %v", v, got, want)
		}
	}
	of := squared
	of.DType, of.Shape, of.WGSL = tensor.Int32, []int{}, "@compute @workgroup_size(threads) fn main() { out[0] = i32(x[0]) + 1; }"
	of.Go = func(out tensor.Array, in []tensor.Array) error {
		tensor.Elements[int32](out)[0] = int32(tensor.Elements[float32](in[0])[0]) + 1
		return nil
	}
	if got := of.Call(x).Add(of.Call(x)); got.Item() != 4 || got.Rank() != 0 || got.DType() != tensor.Int32 {
		t.Errorf("a kernel with a shape and a type: got %v", got)
	}
	bad := x.Take(0, tensor.New([]int32{0, 7}))
	if err := tensor.Try(func() { squared.Call(bad).At(0, 0).Item() }); err == nil || !strings.Contains(err.Error(), "7") || !strings.Contains(err.Error(), "out of range") {
		t.Errorf("an operand with a bad index: error %v", err)
	}
}

// TestKernelRecorded counts the calls of functions with a kernel that are recorded, and of one that captures
// a variable.
func TestKernelRecorded(t *testing.T) {
	d, calls, factor := deviceOf(t), 0, float32(1)
	closure := squared
	closure.WGSL = ""
	closure.Go = func(out tensor.Array, in []tensor.Array) error {
		for i, x := range tensor.Elements[float32](in[0]) {
			tensor.Elements[float32](out)[i] = factor * x * x
		}
		return nil
	}
	for _, c := range []struct {
		k    tensor.Kernel
		runs int
	}{{squared, 2}, {closure, 2 * 4}} {
		calls = 0
		f := grad.Jit(func(x tensor.Tensor) tensor.Tensor { calls++; return c.k.Call(x.Add(1)).Mul(2) })
		for i := range 4 {
			if got, want := f(tensor.New([]float32{float32(i)}).To(d)).Item(), 2*float64((i+1)*(i+1)); got != want {
				t.Errorf("call %d: got %v, want %v", i, got, want)
			}
		}
		if calls > c.runs || calls < 2 {
			t.Errorf("the function ran %d times, want %d", calls, c.runs)
		}
	}
}

func TestKernelMisuse(t *testing.T) {
	x := tensor.New([]float32{1, 2})
	with := func(f func(k *tensor.Kernel)) tensor.Kernel {
		k := squared
		f(&k)
		return k
	}
	derived := grad.Custom(func(x tensor.Tensor) tensor.Tensor { return squared.Call(x) }, func(x, _, ct tensor.Tensor) tensor.Tensor { return ct.Mul(x).Mul(2) })
	if got := grad.Of(func(x tensor.Tensor) tensor.Tensor { return derived(x).Sum() })(x); !slices.Equal(elements32(got), []float32{2, 4}) {
		t.Errorf("the gradient in Custom: %v", got)
	}
	if got := grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.Add(squared.Call(grad.StopGradient(x))).Sum() })(x); !slices.Equal(elements32(got), []float32{1, 1}) {
		t.Errorf("the gradient beside StopGradient: %v", got)
	}
	batched := with(func(k *tensor.Kernel) {
		k.Batch = func(src ...tensor.Tensor) tensor.Tensor { return squared.Call(src...) }
	})
	if got := grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return batched.Call(x) })(x); !slices.Equal(elements32(got), []float32{1, 4}) {
		t.Errorf("Vmap: %v", got)
	}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"has no derivative", func() {
			grad.Of(func(x tensor.Tensor) tensor.Tensor { return squared.Call(x).Sum() })(x)
		}},
		{"has no derivative", func() {
			grad.JVP(func(x tensor.Tensor) tensor.Tensor { return squared.Call(x).Sum() }, x, x)
		}},
		{"must be linear in v, which Kernel square", func() {
			f := grad.CustomJVP(func(x tensor.Tensor) tensor.Tensor { return x }, func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return x, squared.Call(v) })
			grad.Of(func(x tensor.Tensor) tensor.Tensor { return f(x).Sum() })(x)
		}},
		{"set Kernel.Batch", func() { grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return squared.Call(x) })(x) }},
		{"Batch gives float32 []", func() {
			k := with(func(k *tensor.Kernel) { k.Batch = func(src ...tensor.Tensor) tensor.Tensor { return src[0].Sum() } })
			grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return k.Call(x) })(x)
		}},
		{"it has 2 operands and names for 1", func() { squared.Call(x, x) }},
		{`"x y" is no name`, func() { tensor.Kernel{Operands: []string{"x y"}, Go: squared.Go}.Call(x) }},
		{`"out" is no name`, func() { tensor.Kernel{Operands: []string{"out"}, Go: squared.Go}.Call(x) }},
		{`"a" is no name for operand 2`, func() { tensor.Kernel{Operands: []string{"a", "a"}, Go: squared.Go}.Call(x, x) }},
		{"no text", func() { tensor.Kernel{Name: "square", Operands: []string{"x"}}.Call(x) }},
		{"a grid of [0 1 1]", func() { with(func(k *tensor.Kernel) { k.Grid = [3]int{0, 1, 1} }).Call(x) }},
		{"absent", func() { squared.Call(tensor.Tensor{}) }},
		{"has a length of -1", func() { with(func(k *tensor.Kernel) { k.Shape = []int{-1} }).Call(x) }},
		{"the elements are float64", func() { squared.Call(x.Cast(tensor.Float64)).At(0).Item() }},
		{"neither a text for the device cpu nor a Go function", func() { with(func(k *tensor.Kernel) { k.Go = nil }).Call(x).At(0).Item() }},
		{"99 is not squared", func() { squared.Call(x.Mul(99)).At(0).Item() }},
	} {
		err := tensor.Try(c.f)
		if e := (*tensor.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Msg, c.want) || !strings.HasPrefix(e.Pos, "kernel_test.go:") {
			t.Errorf("got %v, want an Error with %q", err, c.want)
		}
	}
}

// TestKernelText has texts for WebGPU that do not fit.
func TestKernelText(t *testing.T) {
	d := deviceOf(t)
	if !strings.HasPrefix(d.String(), "webgpu") {
		t.Skip("the device has no WGSL: set TENSORKEN_DEVICE=webgpu")
	}
	x := tensor.New([]float32{1, 2}).To(d)
	for _, c := range []struct{ old, new, want string }{
		{"x[id.x] * x[id.x]", "x[id.x] * y[id.x]", ":4:"}, // the line of the text
		{"fn main(", "fn kernel(", "fn main("},
		{"threads", "64", "@workgroup_size(threads)"},
		{"fn main", "@group(0) @binding(7) var<storage> z: array<f32>;\nfn main", "@group"},
	} {
		k := squared
		k.WGSL = strings.Replace(k.WGSL, c.old, c.new, 1)
		y := k.Call(x)
		for range 2 {
			err := tensor.Try(func() { y.At(0).Item() })
			if e := (*tensor.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Msg, c.want) || !strings.HasPrefix(e.Pos, "kernel_test.go:") {
				t.Errorf("%s: got %v, want an Error with %q", c.new, err, c.want)
			}
		}
	}
	k := squared
	k.Go = func(out tensor.Array, in []tensor.Array) error { return nil }
	if err := tensor.Try(func() { k.Call(x.Cast(tensor.Float16)).At(0).Item() }); err == nil || !strings.Contains(err.Error(), "x is float16") {
		t.Errorf("halves: got %v", err)
	}
	k.Grid = [3]int{1 << 16, 1, 1}
	if err := tensor.Try(func() { k.Call(x).At(0).Item() }); err == nil || !strings.Contains(err.Error(), "set Grid") {
		t.Errorf("a large grid: got %v", err)
	}
	trace := tensor.Profile(func() {
		if got := squared.Call(x).At(1).Item(); got != 4 {
			t.Errorf("after errors: got %v", got)
		}
	})
	if k := trace.Kernels[0]; k.Template != "kernel" || k.Name != "[2] float32 square" || k.Bytes != 16 || !strings.HasPrefix(k.Site, "kernel_test.go:") {
		t.Errorf("the profile has %+v", k)
	}
}

// A function of a kernel cannot change the shape of a tensor, and a type that does not exist is an error.
func TestKernelShape(t *testing.T) {
	x := tensor.New([]float32{1, 2, 3}).To(tensor.CPU())
	y := tensor.Kernel{Name: "shapes", Operands: []string{"x"}, Go: func(out tensor.Array, in []tensor.Array) error {
		in[0].Shape[0], out.Shape[0] = 1, 2
		return nil
	}}.Call(x)
	if err := tensor.Eval(y); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Shape(), []int{3}) || !slices.Equal(y.Shape(), []int{3}) {
		t.Errorf("the shapes became %v and %v", x.Shape(), y.Shape())
	}
	k := squared
	k.DType = 200
	if err := tensor.Try(func() { k.Call(x) }); err == nil || !strings.Contains(err.Error(), "no such type as DType(200)") {
		t.Errorf("a type that does not exist: %v", err)
	}
}
