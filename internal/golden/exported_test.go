package golden

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// Random expressions and their gradients, exported as models in ONNX that are read again, have PyTorch's
// results.
func TestExportedExpressions(t *testing.T) {
	tg := newTarget(t)
	if tg.gpu {
		t.Skip("models are the same for all devices")
	}
	tg.each(t, readCases(t, "testdata/differential/values.json.gz"), func(c testCase, in []tensor.Tensor) error {
		return tg.compareExported(c.expression, in, pointers(c.Outputs))
	})
	tg.each(t, readCases(t, "testdata/differential/gradients.json.gz"), func(c testCase, in []tensor.Tensor) error {
		ct, err := c.Cotangent.tensor(tg.d)
		if err != nil {
			return err
		}
		return tg.compareExported(grad.Of(problem{testCase: c, in: in, cotangent: ct}.loss), in, c.Grads)
	})
}

// compareExported compares the results of a function's model with want.
func (tg *target) compareExported(f func([]tensor.Tensor) []tensor.Tensor, in []tensor.Tensor, want []*array) error {
	var b bytes.Buffer
	if err := onnx.Export(&b, f, in, nil); err != nil {
		return err
	}
	m, err := onnx.Read(&b)
	if err != nil {
		return err
	}
	inputs := map[string]tensor.Tensor{}
	for i, x := range in {
		inputs[fmt.Sprint("x", i)] = x
	}
	results, err := m.Run(context.Background(), inputs)
	if err != nil {
		return err
	}
	out := make([]tensor.Tensor, len(want))
	for i := range out {
		out[i] = results[fmt.Sprint("y", i)]
	}
	return tg.compareAll(out, want)
}
