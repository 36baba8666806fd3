package gpu

import (
	"flag"
	"runtime"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

var steps = flag.Int("steps", 200, "training steps of TestTrainingIsFlat")

// counted is a device that counts its buffers.
type counted struct {
	wgpu.Device
	buffers, most int
	bytes         map[wgpu.Buffer]int64
	held          int64
}

func (c *counted) NewBuffer(size int64, u wgpu.Usage) (wgpu.Buffer, error) {
	b, err := c.Device.NewBuffer(size, u)
	if err == nil {
		c.buffers++
		c.most = max(c.most, c.buffers)
		c.bytes[b] = size
		c.held += size
	}
	return b, err
}

func (c *counted) FreeBuffer(b wgpu.Buffer) {
	c.buffers--
	c.held -= c.bytes[b]
	delete(c.bytes, b)
	c.Device.FreeBuffer(b)
}

// Training holds no more after many steps than after some, although Go's
// collector, in a process with much other data, has little reason to run.
func TestTrainingIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a while: TestFlat has less to do")
	}
	wgputest.Need(t)
	lib, err := wgpu.Load("")
	if err != nil {
		t.Fatal(err)
	}
	w, err := lib.Open(wgputest.First, wgpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Device: w, bytes: map[wgpu.Buffer]int64{}}
	d := newDevice(c, Options{Name: "webgpu"})
	dev := deviceOf(t, d)
	defer dev.Close()
	other := make([]byte, 1<<30)
	for i := 0; i < len(other); i += 4096 {
		other[i] = 1
	}

	rng := tensor.NewRNG(1)
	data, err := tensor.Data[float32](rng.Normal(16, 64))
	if err != nil {
		t.Fatal(err)
	}
	labels := rng.Ints(10, 16).To(dev)
	net := nn.Sequential{
		nn.NewLinear(rng, 64, 256), nn.Func(tensor.Tensor.ReLU),
		nn.NewLinear(rng, 256, 256), nn.Func(tensor.Tensor.ReLU), nn.NewLinear(rng, 256, 10),
	}
	opt := optim.New(optim.Adam{}, 1e-3)
	var loss tensor.Tensor
	train := func(steps int) {
		for range steps {
			x := tensor.New(data, 16, 64).To(dev) // uploaded anew
			var g nn.Sequential
			loss, g = grad.ValueAndGrad(func(net nn.Sequential) tensor.Tensor {
				return nn.CrossEntropy(net.Apply(x), labels).Mean()
			})(net)
			if err := opt.Step(&net, g); err != nil {
				t.Fatal(err)
			}
			loss.Item()
		}
	}
	type state struct {
		buffers, uploads int
		device           int64
		host             int
	}
	now := func() state { return state{c.buffers, len(d.uploads), c.held, resident(t)} }
	train(100)
	start, before := loss.Item(), now()
	for round := 1; ; round++ { // collections may become rarer, a few times
		train(*steps)
		after := now()
		t.Logf("%+v, after %d steps more %+v; at most %d buffers; loss %.2g and %.2g", before, *steps, after, c.most, start, loss.Item())
		flat := after.buffers <= before.buffers+before.buffers/32 && after.uploads <= maxFlights+1 && after.device <= before.device+before.device/32 && after.host <= before.host+32<<20
		if flat {
			break
		}
		if round == 5 {
			t.Errorf("%d rounds of %d steps, and memory grows", round, *steps)
			break
		}
		before = after
	}
	if loss.Item() >= start {
		t.Errorf("the loss went from %g to %g", start, loss.Item())
	}
	runtime.KeepAlive(other)
}
