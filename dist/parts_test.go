package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A deep model has blocks that its backward pass computes again.
type deep struct {
	Tokens nn.Embedding
	Blocks []deepBlock
	Head   nn.Linear
}

type deepBlock struct{ In, Out nn.Linear }

func newDeep(blocks, width int) deep {
	rng := tensor.NewRNG(1)
	m := deep{Tokens: nn.Embedding{Weight: rng.Normal(9, width)}, Head: nn.NewLinear(rng, width, 9)}
	for range blocks {
		m.Blocks = append(m.Blocks, deepBlock{nn.NewLinear(rng, width, 4*width), nn.NewLinear(rng, 4*width, width)})
	}
	return m
}

func (m deep) loss(ids tensor.Tensor) tensor.Tensor {
	type step struct {
		Block deepBlock
		X     tensor.Tensor
	}
	block := grad.Checkpoint(func(s step) tensor.Tensor { return s.X.Add(s.Block.Out.Apply(s.Block.In.Apply(s.X).Tanh())) })
	x := m.Tokens.Apply(ids)
	for _, b := range m.Blocks {
		x = block(step{b, x})
	}
	return nn.CrossEntropy(m.Head.Apply(x), ids).Mean()
}

func deepStep(o *optim.Optimizer) func(*deep, tensor.Tensor, *tensor.RNG) (tensor.Tensor, error) {
	return optim.Jit(o, func(m deep, ids tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, deep) { return m.loss(ids), m })
}

// On devices with collectives of their own each stage gives the same losses and the same model, which all ranks read. With
// parameters divided, a step gathers the parameters of a block while it computes the block before.
func TestStagesOnDevice(t *testing.T) {
	const steps = 6
	train := func(zero int, clip float64) (losses []float64) {
		var first deep
		onFakes(t, 3, func(g *dist.Group, d *tensor.Device) error {
			m := tree.To(newDeep(3, 5), d)
			ids := tensor.New([]int32{int32(g.Rank()), 3, 8}).To(d)
			o := &optim.Optimizer{Rule: optim.AdamW{WeightDecay: 0.01}, LR: 0.01, Parallel: g, ZeRO: zero, ClipNorm: clip}
			step := deepStep(o)
			for range steps {
				loss, err := step(&m, ids, nil)
				if err != nil {
					return err
				}
				value := loss.Item()
				if g.Rank() == 0 {
					losses = append(losses, value)
				}
			}
			whole := tree.To(m, tensor.CPU())
			if err := tensor.Eval(whole); err != nil {
				return err
			}
			if g.Rank() == 0 {
				first = whole
			}
			if err := g.Barrier(); err != nil {
				return err
			}
			for name, x := range tree.All(whole) {
				for other, y := range tree.All(first) {
					if name != other {
						continue
					}
					if ok, err := tensor.AllClose(x, y, 0, 0); err != nil || !ok {
						return fmt.Errorf("%s differs on rank %d (%v)", name, g.Rank(), err)
					}
				}
			}
			return errors.Join(g.Barrier(), d.Sync())
		})
		return losses
	}
	for _, clip := range []float64{0, 0.1} {
		want := train(0, clip)
		for zero := 1; zero <= 3; zero++ {
			got := train(zero, clip)
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-5*want[i] {
					t.Errorf("ZeRO %d, ClipNorm %v: losses %v, want %v", zero, clip, got, want)
					break
				}
			}
		}
	}
}

// Beside parts of parameters and slots a step needs memory for at most eight blocks, of any number: gradients are whole until
// they are reduced, and with ZeRO 3 parameters until the block is computed.
func TestStagesMemory(t *testing.T) {
	const width, blocks = 1 << 10, 12
	block := 4 * (8*width*width + 5*width)              // bytes of whole parameters
	for zero, halves := range map[int]int{2: 6, 3: 3} { // of a block that a rank keeps, with the slots of Adam; with 2 the first parameters too
		h := &hollow{memory: block * (blocks*halves/2 + 8)}
		d := tensor.NewDevice(h)
		g, err := dist.Alone(h)
		if err != nil {
			t.Fatal(err)
		}
		m := tree.To(newDeep(blocks, width), d)
		if err := tensor.Eval(m); err != nil {
			t.Fatal(err)
		}
		tree.Donate(m)
		step := deepStep(&optim.Optimizer{Rule: optim.Adam{}, LR: 0.01, Parallel: g, ZeRO: zero})
		ids := tensor.New([]int32{1, 2}).To(d)
		for i := range 4 {
			if _, err := step(&m, ids, nil); err != nil {
				t.Fatalf("ZeRO %d, step %d in the memory of %d blocks: %v", zero, i+1, h.memory/block, err)
			}
		}
		if err := errors.Join(g.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A hollow device does not compute. It has some bytes of memory.
type hollow struct{ held, memory int }

type hollowBuffer struct {
	*hollow
	size int
}

func (b hollowBuffer) Size() int { return b.size }
func (b hollowBuffer) Free()     { b.held -= b.size }

func (d *hollow) Name() string { return "hollow" }
func (d *hollow) Limits() driver.Limits {
	return driver.Limits{Types: ir.DTypes, Bindings: 64, Memory: d.memory, Async: true}
}
func (d *hollow) Alloc(bytes int) (driver.Buffer, error) {
	if d.held+bytes > d.memory {
		return nil, driver.ErrMemory
	}
	d.held += bytes
	return hollowBuffer{d, bytes}, nil
}
func (d *hollow) Run([]driver.Call) error                         { return nil }
func (d *hollow) Sync() error                                     { return nil }
func (d *hollow) Compile(*ir.Kernel) (driver.Program, error)      { return nil, nil }
func (d *hollow) Upload(driver.Buffer, int, []byte) error         { return nil }
func (d *hollow) Download(b []byte, _ driver.Buffer, _ int) error { clear(b); return nil }
func (d *hollow) Close() error                                    { return nil }
func (d *hollow) Collectives() (system, place string, err error)  { return "hollow", "", nil }
func (d *hollow) CommunicatorID() ([]byte, error)                 { return nil, nil }
func (d *hollow) Join(context.Context, []byte, int, int) (driver.Communicator, error) {
	return hollowCommunicator{}, nil
}

type hollowCommunicator struct{}

func (hollowCommunicator) Run([]driver.CollectiveCall) error { return nil }
func (hollowCommunicator) Err() error                        { return nil }
func (hollowCommunicator) Abort(error)                       {}
func (hollowCommunicator) Close() error                      { return nil }
