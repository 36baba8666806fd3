package grad_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/tensor"
)

// strict is a device that refuses a call in which a buffer is two
// arguments, as GPUs refuse one that is written. A kernel's first argument is its result.
type strict struct{ driver.Device }

func (d strict) Limits() driver.Limits {
	l := d.Device.Limits()
	l.Shares = false
	return l
}

func (d strict) Run(calls []driver.Call) error {
	for _, c := range calls {
		rest := slices.DeleteFunc(slices.Clone(c.Args[1:]), func(a driver.Arg) bool { return a.Buffer == nil })
		if slices.ContainsFunc(rest, func(a driver.Arg) bool { return a.Buffer == c.Args[0].Buffer }) {
			return errors.New("a call writes a buffer that it reads")
		}
	}
	return d.Device.Run(calls)
}

// TestScanSharesNoBuffer scans with a carry that is an output too, which steps read and
// write.
func TestScanSharesNoBuffer(t *testing.T) {
	d := tensor.NewDevice(strict{cpu.New(cpu.Options{})})
	defer d.Close()
	scan := func(x tensor.Tensor) tensor.Tensor {
		_, h := grad.Scan(func(h, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			h = h.Mul(x).Add(1)
			return h, h
		}, tensor.OnesOf(tensor.Float32, 3), x, nil)
		return h
	}
	x := tensor.New([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 4, 3)
	on := x.To(d)
	checkSame(t, "values", scan(on).To(tensor.CPU()), scan(x))
	of := grad.Of(func(x tensor.Tensor) tensor.Tensor { return scan(x).Sum() })
	checkSame(t, "gradient", of(on).To(tensor.CPU()), of(x))
}
