package gpu

import (
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// traffic counts calls that reach a driver or, on js, JavaScript.
type traffic struct {
	wgpu.Device
	submissions, dispatches, groups, buffers, reads int
}

func (c *traffic) Submit(list []wgpu.Command) (uint64, error) {
	c.submissions++
	for i := range list {
		if list[i].Pipeline != 0 {
			c.dispatches++
		}
	}
	return c.Device.Submit(list)
}

func (c *traffic) NewGroup(l wgpu.Layout, bindings []wgpu.Binding) (wgpu.Group, error) {
	c.groups++
	return c.Device.NewGroup(l, bindings)
}

func (c *traffic) NewBuffer(size int64, u wgpu.Usage) (wgpu.Buffer, error) {
	c.buffers++
	return c.Device.NewBuffer(size, u)
}

func (c *traffic) Read(b wgpu.Buffer, dst []byte) error {
	c.reads++
	return c.Device.Read(b, dst)
}

// newTraining returns a step of a network for digits, on a batch of 64 that is copied to the
// device, with its loss read.
func newTraining(b *testing.B, dev *tensor.Device) (step func()) {
	rng := tensor.NewRNG(1)
	data, err := tensor.Data[float32](rng.Normal(64, 64))
	if err != nil {
		b.Fatal(err)
	}
	labels := rng.Ints(10, 64).To(dev)
	net := nn.Sequential{
		nn.NewLinear(rng, 64, 128), nn.Func(tensor.Tensor.ReLU),
		nn.NewLinear(rng, 128, 64), nn.Func(tensor.Tensor.ReLU), nn.NewLinear(rng, 64, 10),
	}
	opt := optim.New(optim.Adam{}, 1e-3)
	return func() {
		x := tensor.New(data, 64, 64).To(dev)
		loss, g := grad.ValueAndGrad(func(net nn.Sequential) tensor.Tensor {
			return nn.CrossEntropy(net.Apply(x), labels).Mean()
		})(net)
		if err := opt.Step(&net, g); err != nil {
			b.Fatal(err)
		}
		loss.Item()
	}
}

// warm runs the steps that compile.
func warm(step func()) {
	for range 3 {
		step()
	}
}

// BenchmarkTraining is a step of training on a GPU.
func BenchmarkTraining(b *testing.B) {
	wgputest.Need(b)
	lib, err := wgpu.Load("")
	if err != nil {
		b.Fatal(err)
	}
	w, err := lib.Open(wgputest.First, wgpu.Options{})
	if err != nil {
		b.Fatal(err)
	}
	c := &traffic{Device: w}
	dev := deviceOf(b, New(c, Options{Name: "webgpu"}))
	step := newTraining(b, dev)
	warm(step)
	before := *c
	for b.Loop() {
		step()
	}
	per := func(n int, unit string) { b.ReportMetric(float64(n)/float64(b.N), unit) }
	per(c.submissions-before.submissions, "submissions/op")
	per(c.dispatches-before.dispatches, "dispatches/op")
	per(c.groups-before.groups, "groups/op")
	per(c.buffers-before.buffers, "buffers/op")
	per(c.reads-before.reads, "reads/op")
}

// BenchmarkTrainingOnCPU is the same step on the CPU, to compare with.
func BenchmarkTrainingOnCPU(b *testing.B) {
	step := newTraining(b, tensor.CPU())
	warm(step)
	for b.Loop() {
		step()
	}
}
