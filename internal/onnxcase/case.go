// Package onnxcase runs the cases of ONNX's test suite: a folder with model.onnx and folders
// test_data_set_0 and so on of inputs and results, or with io.npz.
package onnxcase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// A Verdict is the outcome of a case, and the exit status of a command that runs one.
type Verdict int

// The verdicts.
const (
	Match    Verdict = iota
	Mismatch         // a result differs
	CannotRun
)

// String returns the word of a manifest.
func (v Verdict) String() string { return [...]string{"ok", "differs", "cannot run"}[v] }

// The tolerances of the standard's runner of tests.
const (
	RelativeTolerance = 1e-3
	AbsoluteTolerance = 1e-7
)

// Tolerances for whole models, whose results are in io.npz.
const (
	ModelRelativeTolerance = 1e-4
	ModelAbsoluteTolerance = 1e-5
)

// RunFolder runs the case in a folder and returns the verdict and, unless it is Match, the reason.
func RunFolder(ctx context.Context, dir string) (Verdict, error) {
	m, err := onnx.Open(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return CannotRun, err
	}
	npz := filepath.Join(dir, "io.npz")
	if _, err := os.Stat(npz); err == nil {
		return runArrays(ctx, m, npz)
	}
	return runSets(ctx, m, os.DirFS(dir))
}

// runArrays runs a model on arrays that have the names of its inputs and results.
func runArrays(ctx context.Context, m *onnx.Model, path string) (Verdict, error) {
	f, err := npy.Open(path)
	if err != nil {
		return CannotRun, err
	}
	defer f.Close()
	inputs := map[string]tensor.Tensor{}
	for _, in := range m.Inputs() {
		if inputs[in.Name], err = f.Tensor(in.Name); err != nil {
			return CannotRun, err
		}
	}
	out, err := m.Run(ctx, inputs)
	if err != nil {
		return CannotRun, err
	}
	for _, info := range m.Outputs() {
		want, err := f.Tensor(info.Name)
		if err != nil {
			return CannotRun, err
		}
		if err := compare(out[info.Name], want, ModelRelativeTolerance, ModelAbsoluteTolerance); err != nil {
			return Mismatch, fmt.Errorf("%s: %w", info.Name, err)
		}
	}
	return Match, nil
}

// Run is RunFolder of a file system, for a case without io.npz.
func Run(ctx context.Context, dir fs.FS) (Verdict, error) {
	b, err := fs.ReadFile(dir, "model.onnx")
	if err != nil {
		return CannotRun, err
	}
	m, err := onnx.Read(bytes.NewReader(b))
	if err != nil {
		return CannotRun, err
	}
	return runSets(ctx, m, dir)
}

func runSets(ctx context.Context, m *onnx.Model, dir fs.FS) (Verdict, error) {
	sets, err := fs.Glob(dir, "test_data_set_*")
	if err != nil || len(sets) == 0 {
		return CannotRun, errors.New("there is no test_data_set")
	}
	for range 3 { // the first run interprets the model, the second records it, the third replays that
		for _, set := range sets {
			if v, err := runSet(ctx, m, dir, set); err != nil {
				return v, err
			}
		}
	}
	return Match, nil
}

func runSet(ctx context.Context, m *onnx.Model, dir fs.FS, set string) (Verdict, error) {
	out, err := results(ctx, m, dir, set)
	if err != nil {
		return CannotRun, err
	}
	for i, info := range m.Outputs() {
		want, err := readFile(dir, fmt.Sprintf("%s/output_%d.pb", set, i), info)
		if err != nil {
			return CannotRun, err
		}
		if err := Compare(out[info.Name], want, RelativeTolerance, AbsoluteTolerance); err != nil {
			return Mismatch, fmt.Errorf("%s: %w", info.Name, err)
		}
	}
	return Match, nil
}

// results runs the model on the inputs of a set.
func results(ctx context.Context, m *onnx.Model, dir fs.FS, set string) (map[string]onnx.Value, error) {
	inputs := map[string]onnx.Value{}
	for i, in := range m.Inputs() {
		v, err := readFile(dir, fmt.Sprintf("%s/input_%d.pb", set, i), in)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		inputs[in.Name] = v
	}
	return m.RunValues(ctx, inputs)
}

// Write writes the results of a folder's case as output_0.pb and so on in test_data_set_0, for a program
// that compares them itself.
func Write(ctx context.Context, dir string) error {
	m, err := onnx.Open(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return err
	}
	const set = "test_data_set_0"
	out, err := results(ctx, m, os.DirFS(dir), set)
	if err != nil {
		return err
	}
	for i, info := range m.Outputs() {
		var b bytes.Buffer
		if err := onnx.WriteValue(&b, out[info.Name], info); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, set, fmt.Sprintf("output_%d.pb", i)), b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func readFile(dir fs.FS, name string, as onnx.Info) (onnx.Value, error) {
	b, err := fs.ReadFile(dir, name)
	if err != nil {
		return onnx.Value{}, err
	}
	return onnx.ReadValue(bytes.NewReader(b), int64(len(b)), as)
}

// Compare returns an error unless two values are of one type and shape, and their elements are equal
// within |got-want| ≤ atol + rtol·|want|.
func Compare(got, want onnx.Value, rtol, atol float64) error {
	switch {
	case got.Kind != want.Kind, got.Elem != want.Elem:
		return fmt.Errorf("got %v, want %v", got, want)
	case len(got.Sequence) != len(want.Sequence):
		return fmt.Errorf("got %v, want %v", got, want)
	}
	for i := range got.Sequence {
		if err := Compare(got.Sequence[i], want.Sequence[i], rtol, atol); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	if len(want.Strings) > 0 || want.Shape != nil {
		if !slices.Equal(got.Strings, want.Strings) || !slices.Equal(got.Shape, want.Shape) {
			return fmt.Errorf("got %q of shape %v, want %q of shape %v", got.Strings, got.Shape, want.Strings, want.Shape)
		}
	}
	if !want.Tensor.IsValid() {
		return nil
	}
	return compare(got.Tensor, want.Tensor, rtol, atol)
}

func compare(got, want tensor.Tensor, rtol, atol float64) error {
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Errorf("got %v %v, want %v %v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	x, err := tensor.Data[float64](onHost(got))
	if err != nil {
		return err
	}
	y, err := tensor.Data[float64](onHost(want))
	if err != nil {
		return err
	}
	worst, at, bad := 0.0, 0, 0
	for i := range x {
		a, b := x[i], y[i]
		if a == b || math.IsNaN(a) && math.IsNaN(b) {
			continue
		}
		d := math.Abs(a - b)
		if d <= atol+rtol*math.Abs(b) && !math.IsInf(d, 0) {
			continue
		}
		if bad++; bad == 1 || d > worst {
			worst, at = d, i
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d elements differ, most at %d: got %g, want %g", bad, len(x), at, x[at], y[at])
	}
	return nil
}

// onHost converts to float64, which GPUs may lack.
func onHost(t tensor.Tensor) tensor.Tensor { return t.To(tensor.CPU()).Cast(tensor.Float64) }

// Reason returns an error as one line.
func Reason(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
