package golden

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// The gradient of a cross-entropy of many classes takes the memory of the logits: the logit of each label is
// read before, also by a label that is out of range.
func TestLabelsAhead(t *testing.T) {
	const rows, classes, bad = 1024, 4200, 7
	c := &counter{cpu.New(cpu.Options{}), map[string]int{}}
	d := tensor.NewDevice(c)
	rng := tensor.NewRNG(1)
	x, w := rng.Normal(rows, 3).To(d), rng.Normal(3, classes).To(d)
	targets := func(label int32) tensor.Tensor {
		list := make([]int32, rows)
		for i := range list {
			list[i] = int32(i % classes)
		}
		list[bad] = label
		return tensor.New(list).To(d)
	}
	loss := func(logits, y tensor.Tensor) tensor.Tensor { return nn.CrossEntropy(logits, y).Mean() }
	of := func(y tensor.Tensor) tensor.Tensor {
		return grad.Of(func(x tensor.Tensor) tensor.Tensor { return loss(x.MatMul(w), y) })(x)
	}
	// Logits that are stored keep their memory.
	apart := func(y tensor.Tensor) tensor.Tensor {
		logits := x.MatMul(w)
		if err := tensor.Eval(logits); err != nil {
			t.Fatal(err)
		}
		return grad.Of(func(z tensor.Tensor) tensor.Tensor { return loss(z, y) })(logits).MatMul(w.T())
	}
	got, err := tensor.Data[float32](of(targets(5)))
	if err != nil {
		t.Fatal(err)
	}
	gathers := 0 // pointwise
	for text := range c.ran {
		if strings.HasPrefix(text, ir.Pointwise.String()) && strings.Contains(text, "<4200") {
			gathers++
		}
	}
	if gathers != 1 {
		t.Errorf("%d kernels read the labels' logits ahead, want 1", gathers)
	}
	want, err := tensor.Data[float32](apart(targets(5)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-8 {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	message := func(x tensor.Tensor) string {
		err := tensor.Eval(x)
		if err == nil {
			t.Fatal("a label out of range is not reported")
		}
		at := strings.Index(err.Error(), "index ")
		return err.Error()[max(at, 0):]
	}
	if got, want := message(of(targets(classes))), message(apart(targets(classes))); got != want || !strings.Contains(got, "4200 at [7]") {
		t.Errorf("a bad label fails with %q, want %q", got, want)
	}
}
