package dist_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A fullDevice of rank 1 has no memory for large results.
type fullDevice struct {
	*dist.FakeDevice
	rank int
}

func (d *fullDevice) Alloc(n int) (driver.Buffer, error) {
	if d.rank == 1 && n >= 8<<20 {
		return nil, fmt.Errorf("full: %w", driver.ErrMemory)
	}
	return d.FakeDevice.Alloc(n)
}

// A rank that has joined a collective, and has no memory for its result, does not leave the others waiting.
func TestFailureAfterJoin(t *testing.T) {
	ended := make(chan error, 1)
	go func() {
		ended <- dist.Local(2, func(g *dist.Group) error {
			d := tensor.NewDevice(&fullDevice{dist.NewFakeDevice(fmt.Sprint(g.Rank())), g.Rank()})
			x := tensor.Ones(1 << 20).To(d)
			if err := tensor.Eval(x); err != nil {
				return err
			}
			_, err := dist.AllGather(g, x).Bytes()
			if g.Rank() == 1 {
				return g.Close()
			}
			return err
		})
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "rank 1") || !strings.Contains(err.Error(), "full") {
			t.Errorf("a rank without memory: %v, want an error that names it", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("rank 0 waits")
	}
}

// A device goes on after a failed collective, and finds indices that are out of range.
func TestIndicesAfterFailure(t *testing.T) {
	onFakes(t, 2, func(g *dist.Group, d *tensor.Device) error {
		m := tree.To(nn.NewEmbedding(tensor.NewRNG(1), 6, 3), d)
		table := tensor.New([]float32{1, 2, 3}).To(d)
		step := optim.Jit(&optim.Optimizer{Rule: optim.SGD{}, LR: 0.1, Parallel: g}, func(m nn.Embedding, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, nn.Embedding) {
			return m.Apply(x).Square().Mean(), m
		})
		for i := range 4 {
			if i == 3 {
				if g.Rank() == 1 {
					g.Abort(errors.New("rank 1 ends"))
					return nil
				}
				<-g.Context().Done()
			}
			if _, err := step(&m, tensor.New([]int32{int32(i % 3), int32(g.Rank()), 0}).To(d), nil); (err != nil) != (i == 3) {
				t.Errorf("step %d: %v", i, err)
			}
		}
		take := func(i int32) tensor.Tensor { return table.Take(0, tensor.New([]int32{i}).To(d)) }
		for range 3 {
			if err := tensor.Eval(take(2)); err != nil {
				t.Error(err)
			}
			if y, err := take(77).Bytes(); err == nil {
				t.Errorf("element 77 of 3 is %v", y)
			}
			if _, err := take(1).Bytes(); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
}
