package onnxcmd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/tensor"
)

const model = "../../../../onnx/testdata/line.onnx"

// command runs the command and returns standard output and the error.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Cleanup(func() { tensor.SetDefault(nil) })
	var out bytes.Buffer
	c := Command()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&bytes.Buffer{})
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.Execute()
	return out.String(), err
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	x, y := filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npz")
	if err := npy.Save(x, tensor.New([]float32{1, 0, 0, 1}, 2, 2)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string // in the output, or in the error
		ok   bool
	}{
		{"info " + model + " --dim N=8", "MatMul    float[8 1]  2           32", true},
		{"info " + model + " --dim x[0]=4", "MatMul    float[4 1]  2", true},
		{"info " + model + " --dim M=8", `no input has an axis "M"`, false},
		{"info " + model + " --dim x[2]=8", `no input has an axis "x[2]"`, false},
		{"info " + model + " --dim x[1]=9", `axis "x[1]" has length 2 in the model, and not 9`, false},
		{"info " + model + " --dim N", "want NAME=LENGTH", false},
		{"check " + model, "MatMul    20     1      ok", true},
		{"run --device cpu " + model + " --input x=" + x, "[[0.625]\n [0.375]]", true},
		{"run --device cpu " + model + " --input x=" + x + " --out " + y, "y float[2 1]", true},
		{"run --device cpu " + model + " --input z=" + x, `no input "z"`, false},
		{"run --device cpu " + model + " --input x", "want NAME=FILE.npy", false},
		{"run --device cpu " + model + " --out y.txt", "should end in .npz", false},
		{"run --device cpu " + model + " --dim N=3", "y float[3 1]", true},
		{"bench --device cpu " + model + " --time 1ms", "median", true},
		{"bench --device cpu " + model + " --time 0s", "--time", false},
		{"info none.onnx", "none.onnx", false},
	} {
		out, err := command(t, strings.Fields(c.args)...)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, c.want) || (err == nil) != c.ok {
			t.Errorf("%s: %v\n%s, want %s", c.args, err, out, c.want)
		}
	}
	var got map[string]tensor.Tensor
	if err := npy.Load(y, &got); err != nil || got["y"].Len() != 2 {
		t.Errorf("the file of results: %v, %v", got, err)
	}
}

// Results of a case are written where a program asks for them.
func TestCaseWrite(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	set := filepath.Join(dir, "test_data_set_0")
	x := []byte{8, 1, 8, 2, 16, 1, 34, 8, 0, 0, 128, 63, 0, 0, 0, 0} // shape [1 2], floats 1 and 0
	if err := errors.Join(os.Mkdir(set, 0o700), os.WriteFile(filepath.Join(dir, "model.onnx"), b, 0o600), os.WriteFile(filepath.Join(set, "input_0.pb"), x, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"case", "--device", "cpu", "--write", dir}, {"case", "--device", "cpu", dir}} {
		if out, err := command(t, args...); err != nil || out != "ok\n" {
			t.Errorf("%v: %q, %v", args, out, err)
		}
	}
	y, err := os.ReadFile(filepath.Join(set, "output_0.pb"))
	if err != nil || !bytes.Contains(y, []byte{0, 0, 32, 63}) { // 0.625
		t.Errorf("the result is %v, %v", y, err)
	}
}

// The status of a case says what is wrong.
func TestCase(t *testing.T) {
	b, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model []byte
		y     float32
		want  int
	}{{b, 0.625, 0}, {b, 0.5, 1}, {b[:20], 0, 2}} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "model.onnx"), c.model, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := npy.Save(filepath.Join(dir, "io.npz"), map[string]tensor.Tensor{"x": tensor.New([]float32{1, 0}, 1, 2), "y": tensor.New([]float32{c.y}, 1, 1)}); err != nil {
			t.Fatal(err)
		}
		_, err := command(t, "case", "--device", "cpu", dir)
		status := 0
		if e := (*StatusError)(nil); errors.As(err, &e) {
			status = e.Status
		}
		if status != c.want || (err != nil && strings.Contains(err.Error(), "\n")) {
			t.Errorf("%v: status %d of %v, want %d", c.y, status, err, c.want)
		}
	}
}
