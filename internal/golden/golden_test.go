package golden

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// opTables has the operations of the files.
var opTables = []map[string]opFunc{ops, functions, movements, losses, layers, ordered, indexing, fourier, algebra}

func findOp(name string) (opFunc, bool) {
	for _, table := range opTables {
		if f, ok := table[name]; ok {
			return f, true
		}
	}
	return nil, false
}

// TestOps compares the library's results with every case of the file that
// TENSORKEN_GOLDEN names, by default the project's files.
func TestOps(t *testing.T) {
	paths := []string{"testdata/ops_public.json", "testdata/ops2_public.json", "testdata/nn/cases.json.gz"}
	if path := os.Getenv("TENSORKEN_GOLDEN"); path != "" {
		paths = []string{path}
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { testOps(t, path) })
	}
}

func testOps(t *testing.T, path string) {
	d, rtol, atol := openDevice(t)
	for i, c := range readCases(t, path) {
		t.Run(fmt.Sprintf("%03d_%s", i, c.Op), func(t *testing.T) {
			f, ok := findOp(c.Op)
			if !ok {
				t.Fatalf("no operation %q", c.Op)
			}
			rtol, atol := rtol, atol
			if c.RTol != nil {
				rtol = *c.RTol
			}
			if c.ATol != nil {
				atol = *c.ATol
			}
			got, grads, err := run(c, f, d)
			if err != nil {
				t.Fatalf("%s %s: %v", c.Op, describe(c), err)
			}
			outputs := []tensor.Tensor{got}
			if f := second[c.Op]; f != nil && len(c.Outputs) == 2 {
				c := c
				c.Cotangent = nil
				y, _, err := run(c, f, d)
				if err != nil {
					t.Fatalf("%s %s: %v", c.Op, describe(c), err)
				}
				outputs = append(outputs, y)
			}
			if len(c.Outputs) != len(outputs) {
				t.Fatalf("%s: %d outputs, want %d", c.Op, len(c.Outputs), len(outputs))
			}
			for i, y := range outputs {
				if err := compare(y, c.Outputs[i], rtol, atol); err != nil {
					t.Errorf("output %d of %s %s: %v", i, c.Op, describe(c), err)
				}
			}
			for i, want := range c.Grads {
				if want == nil {
					continue
				}
				if err := compare(grads[i], *want, rtol, atol); err != nil {
					t.Errorf("gradient %d of %s %s: %v", i, c.Op, describe(c), err)
				}
			}
		})
	}
}

// run computes a case's result and, if it has a cotangent, its inputs' gradients.
func run(c testCase, f opFunc, d *tensor.Device) (y tensor.Tensor, grads []tensor.Tensor, err error) {
	defer tensor.Catch(&err)
	in := make([]tensor.Tensor, len(c.Inputs))
	for i, a := range c.Inputs {
		if in[i], err = a.tensor(d); err != nil {
			return y, nil, err
		}
	}
	if c.Cotangent == nil {
		y = f(in, c.Args)
		return y, nil, tensor.Eval(y)
	}
	ct, err := c.Cotangent.tensor(d)
	if err != nil {
		return y, nil, err
	}
	y, pull := grad.VJP(func(in []tensor.Tensor) tensor.Tensor { return f(in, c.Args) }, in)
	grads = pull(ct)
	return y, grads, tensor.Eval(y, grads)
}

// compare returns an error if got differs from want.
func compare(got tensor.Tensor, want array, rtol, atol float64) error {
	if !got.IsValid() {
		return fmt.Errorf("got the absent tensor, want shape %v", want.Shape)
	}
	if !slices.Equal(got.Shape(), want.Shape) {
		return fmt.Errorf("got shape %v, want %v", got.Shape(), want.Shape)
	}
	if got.DType().String() != want.DType {
		return fmt.Errorf("got type %v, want %v", got.DType(), want.DType)
	}
	g, err := values(got)
	if err != nil {
		return err
	}
	w, err := want.numbers()
	if err != nil {
		return err
	}
	for i := range w {
		if !near(g[i], w[i], rtol, atol) {
			return fmt.Errorf("element %d: got %v, want %v (±%v)", i, g[i], w[i], atol+rtol*math.Abs(w[i]))
		}
	}
	return nil
}

// near reports whether got is want within the tolerance; infinities and NaN
// must be the same.
func near(got, want, rtol, atol float64) bool {
	switch {
	case math.IsNaN(want):
		return math.IsNaN(got)
	case math.IsInf(want, 0):
		return got == want
	}
	return math.Abs(got-want) <= atol+rtol*math.Abs(want)
}

// describe formats a case's arguments and the shapes of its inputs.
func describe(c testCase) string {
	shapes := make([][]int, len(c.Inputs))
	for i, a := range c.Inputs {
		shapes[i] = a.Shape
	}
	return fmt.Sprintf("%s of %v", c.Args, shapes)
}
