package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/internal/interrupt"
	"github.com/tensorken/tensorken/internal/interrupt/interrupttest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// command runs the command with arguments.
func command(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, &out, &err)
	return status, out.String(), err.String()
}

// write writes a file in a new folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// quadrants are points of the plane with the signs of their coordinates as
// the class: 10 more where x > 0, 5 more where y > 0.
func quadrants() string {
	var b strings.Builder
	b.WriteString("x,y,class\n")
	for i := range 100 {
		x, y := float64(i%10)-4.5, 100*(float64(i/10)-4.5)
		class := 0
		if x > 0 {
			class += 10
		}
		if y > 0 {
			class += 5
		}
		fmt.Fprintf(&b, "%v,%v,%d\n", x, y, class)
	}
	return b.String()
}

func TestTrainAndPredict(t *testing.T) {
	csv := write(t, "points.csv", quadrants())
	model := filepath.Join(t.TempDir(), "points.safetensors")
	args := []string{"train", "--data", csv, "--out", model, "--epochs", "40", "--lr", "0.02", "--batch", "16", "--device", "cpu", "--json"}
	status, stdout, stderr := command(args...)
	if status != 0 {
		t.Fatalf("train: status %d, %s", status, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var r result
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("last line %q: %v", lines[len(lines)-1], err)
	}
	if r.Epochs != 40 || r.Device != "cpu" || r.Parameters != 3*256+257*4 || r.TestAccuracy < 0.9 || r.Seconds <= 0 || r.TrainLoss <= 0 {
		t.Errorf("train gave %+v", r)
	}
	if n := strings.Count(stderr, "\nepoch "); n != 40 {
		t.Errorf("train printed %d lines of progress, want 40:\n%s", n, stderr)
	}
	if !strings.Contains(stdout, "loss over 40 epochs") {
		t.Errorf("train printed no curve:\n%s", stdout)
	}

	_, stdout2, _ := command(args...)
	seconds := regexp.MustCompile(`"seconds":[^,]*|in [0-9.]+ s`)
	if a, b := seconds.ReplaceAllString(stdout, ""), seconds.ReplaceAllString(stdout2, ""); a != b {
		t.Errorf("the same seed gave\n%s\nand then\n%s", a, b)
	}

	f, err := safetensors.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for key, want := range map[string]string{"model": "mlp", "input_shape": "[2]", "classes": "[0,5,10,15]", "seed": "1", "data": csv} {
		if got := f.Meta[key]; got != want {
			t.Errorf("metadata %q is %q, want %q", key, got, want)
		}
	}

	status, stdout, stderr = command("predict", model, "--data", csv, "--device", "cpu")
	if status != 0 {
		t.Fatalf("predict: status %d, %s", status, stderr)
	}
	lines = strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 7 || !strings.HasPrefix(lines[0], "accuracy 9") && !strings.HasPrefix(lines[0], "accuracy 100") {
		t.Fatalf("predict printed\n%s", stdout)
	}
	if got := strings.Fields(lines[2]); strings.Join(got, " ") != "class 0 5 10 15" {
		t.Errorf("the confusion matrix begins %q", lines[2])
	}
}

// Trains briefly on the digits.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		model string
		least float64
	}{{"mlp", 0.8}, {"cnn", 0.9}} {
		if testing.Short() && c.model == "cnn" {
			continue
		}
		dir := t.TempDir()
		out, curves, wrong := filepath.Join(dir, "digits.safetensors"), filepath.Join(dir, "curves.svg"), filepath.Join(dir, "wrong.svg")
		status, stdout, stderr := command("train", "--model", c.model, "--epochs", "2", "--out", out, "--device", "cpu", "--json", "--plot", curves)
		if status != 0 {
			t.Fatalf("train --model %s: status %d, %s", c.model, status, stderr)
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		var r result
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
			t.Fatal(err)
		}
		if r.TestAccuracy < c.least {
			t.Errorf("train --model %s reached %v in two epochs, want %v", c.model, r.TestAccuracy, c.least)
		}
		status, stdout, stderr = command("predict", out, "--device", "cpu", "--plot", wrong)
		want := fmt.Sprintf("accuracy %.2f %%", 100*r.TestAccuracy)
		if status != 0 || !strings.HasPrefix(stdout, want) {
			t.Errorf("predict of %s printed %q, %q, want %s…", c.model, stdout, stderr, want)
		}
		mistake := regexp.MustCompile(`wrong: (\d, not \d)`).FindStringSubmatch(stdout)
		if mistake == nil || !strings.Contains(stdout, "@@") {
			t.Fatalf("predict of %s drew no digits:\n%s", c.model, stdout)
		}
		for path, want := range map[string]string{curves: "accuracy", wrong: mistake[1]} {
			if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), want) {
				t.Errorf("--plot of %s: %v, want a drawing with %q", c.model, err, want)
			}
		}
	}
}

func TestNoMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.png")
	m, err := findMistakes(tensor.Ones(2, 16), []float64{3, 4}, []int32{0, 1}, []int32{0, 1})
	if err != nil || m.save(path, io.Discard) != nil || m.print(io.Discard) != nil {
		t.Errorf("without a mistake: %+v, %v", m, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("without a mistake there is a drawing")
	}
	if m, err = findMistakes(tensor.Ones(2, 15), []float64{3, 4}, []int32{0, 1}, []int32{1, 1}); err != nil || m.pixels != nil {
		t.Errorf("15 numbers are no image: %+v, %v", m, err)
	}
}

func TestInterrupt(t *testing.T) {
	csv, out := write(t, "points.csv", quadrants()), filepath.Join(t.TempDir(), "m.safetensors")
	ctx, cancel := context.WithCancel(context.Background())
	stderr := &stopAfter{cancel: cancel, text: "epoch  2/"}
	var stdout bytes.Buffer
	status := run(ctx, []string{"train", "--data", csv, "--out", out, "--epochs", "50", "--device", "cpu", "--json"}, &stdout, stderr)
	if status != 0 || !strings.Contains(stdout.String(), `"epochs":2,`) {
		t.Errorf("interrupted in epoch 3: status %d, output %s, %s", status, stdout.String(), stderr.String())
	}
	if _, err := os.Stat(out); err != nil {
		t.Error(err)
	}
	status = run(ctx, []string{"train", "--data", csv, "--out", out, "--device", "cpu"}, &stdout, stderr)
	if status != 1 && status != 0 {
		t.Errorf("interrupted at the start: status %d", status)
	}
}

// However the system tells train to stop, it saves the best model and exits with status 0.
func TestInterruptedBySystem(t *testing.T) {
	const child, folder = "TENSORKEN_TEST_CHILD", "TENSORKEN_TEST_FOLDER"
	if event := os.Getenv(child); event != "" {
		raise := sync.OnceFunc(func() {
			if err := interrupttest.Events[event](); err != nil {
				panic(err)
			}
		})
		args := []string{"train", "--out", filepath.Join(os.Getenv(folder), "m.safetensors"), "--epochs", "1000", "--device", "cpu", "--json"}
		os.Exit(run(interrupt.Context(), args, os.Stdout, &stopAfter{cancel: raise, text: "epoch    2/"}))
	}
	for event := range interrupttest.Events {
		dir := t.TempDir()
		c := exec.Command(os.Args[0], "-test.run=^TestInterruptedBySystem$")
		c.Env = append(os.Environ(), child+"="+event, folder+"="+dir)
		out, err := c.CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		var r result
		if e := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil || e != nil || r.Epochs == 1000 {
			t.Errorf("train after %s: %v, output %s, want exit status 0 and JSON", event, err, out)
		}
		if status, _, stderr := command("predict", filepath.Join(dir, "m.safetensors"), "--device", "cpu"); status != 0 {
			t.Errorf("predict of the model that train saved after %s: %s", event, stderr)
		}
	}
}

// A loss that is not finite ends training, and the best model before it is saved.
func TestDiverge(t *testing.T) {
	csv, out := write(t, "points.csv", quadrants()), filepath.Join(t.TempDir(), "m.safetensors")
	for _, c := range []struct {
		batch string
		want  string
		saved bool
	}{
		{"16", "of epoch 1: a smaller learning rate may help\n", false},
		{"80", "of epoch 2: a smaller learning rate may help; the best model before that is saved to " + out + "\n", true},
	} {
		status, stdout, stderr := command("train", "--data", csv, "--out", out, "--batch", c.batch, "--lr", "1e30", "--device", "cpu")
		if status != 1 || stdout != "" || !strings.HasSuffix(stderr, c.want) {
			t.Errorf("train --lr 1e30 --batch %s: status %d, output %q, standard error %q, want status 1 and …%s", c.batch, status, stdout, stderr, c.want)
		}
		if _, err := os.Stat(out); (err == nil) != c.saved {
			t.Errorf("train --lr 1e30 --batch %s: Stat of the model: %v, want it saved: %v", c.batch, err, c.saved)
		}
	}
}

func TestOneEpoch(t *testing.T) {
	out := filepath.Join(t.TempDir(), "m.safetensors")
	_, stdout, stderr := command("train", "--data", write(t, "points.csv", quadrants()), "--out", out, "--epochs", "1", "--device", "cpu")
	if !strings.Contains(stdout, "model of 1 epoch in ") {
		t.Errorf("train --epochs 1 printed %s, %s", stdout, stderr)
	}
}

// predict fails for a model whose numbers make predictions meaningless.
func TestDamagedModel(t *testing.T) {
	csv, model := write(t, "points.csv", quadrants()), filepath.Join(t.TempDir(), "m.safetensors")
	if status, _, stderr := command("train", "--data", csv, "--out", model, "--epochs", "1", "--device", "cpu"); status != 0 {
		t.Fatal(stderr)
	}
	fill := func(like tensor.Tensor, x float64) tensor.Tensor { return like.Mul(0).Add(x) }
	for _, c := range []struct {
		damage func(d *description, l *nn.Linear)
		want   string
	}{
		{func(*description, *nn.Linear) {}, ""},
		{func(d *description, _ *nn.Linear) { d.Scaling.Scale[1] = 0 }, `"scale" in the metadata is 0 for column 2: want another number`},
		{func(d *description, _ *nn.Linear) { d.InputShape = []int{-2, -1} }, `the metadata is inconsistent: a mlp has no input_shape [-2 -1]`},
		{func(d *description, _ *nn.Linear) { d.Model = "cnn" }, `the metadata is inconsistent: a cnn has no input_shape [2]`},
		{func(d *description, _ *nn.Linear) {
			d.Model, d.InputShape, d.Scaling = "cnn", []int{64}, scaling{[]float32{0}, []float32{1}}
		}, `the metadata is inconsistent: a cnn has no input_shape [64]`},
		{func(_ *description, l *nn.Linear) { l.Weight = fill(l.Weight, math.NaN()) }, `"0.weight" holds NaN: the file is damaged, or the training failed`},
		{func(_ *description, l *nn.Linear) { l.Bias = fill(l.Bias, math.Inf(-1)) }, `"0.bias" holds -Inf`},
		{func(_ *description, l *nn.Linear) { l.Bias = tensor.Tensor{} }, `it lacks "0.bias" of a mlp`},
		{func(d *description, _ *nn.Linear) { d.Scaling.Scale[0] = 1e-38 }, "the model's scores of example "},
	} {
		d, net, err := open(model)
		if err != nil {
			t.Fatal(err)
		}
		first := net[0].(nn.Linear)
		c.damage(&d, &first)
		net[0] = first
		path := filepath.Join(t.TempDir(), "damaged.safetensors")
		if err := d.save(path, net); err != nil {
			t.Fatal(err)
		}
		status, stdout, stderr := command("predict", path, "--data", csv, "--device", "cpu")
		if c.want == "" {
			if status != 0 {
				t.Errorf("predict of a good model: status %d, %s", status, stderr)
			}
			continue
		}
		if want := "tensorken: " + path + ": " + c.want; status != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("predict: status %d, output %q, standard error %q, want status 1 and %s…", status, stdout, stderr, want)
		}
	}
}

// A bad environment variable is an error in one line, before the command does anything.
func TestBadVariable(t *testing.T) {
	const child = "TENSORKEN_TEST_CHILD"
	if os.Getenv(child) != "" {
		os.Exit(run(context.Background(), []string{"predict", "nowhere.safetensors"}, os.Stdout, os.Stderr))
	}
	for variable, want := range map[string]string{
		"TENSORKEN_THREADS": `"9 GB" is no number of threads`,
		"TENSORKEN_MEMORY":  `"9 GB" is no size: want a number of bytes, such as 6GiB`,
	} {
		c := exec.Command(os.Args[0], "-test.run=^TestBadVariable$")
		c.Env = append(os.Environ(), child+"=1", variable+"=9 GB")
		out, err := c.CombinedOutput()
		want = "tensorken: cpu: NewCPU: " + variable + ": " + want + "\n"
		if c.ProcessState.ExitCode() != 1 || string(out) != want {
			t.Errorf("%s: %v, output %q, want exit status 1 and %q", variable, err, out, want)
		}
	}
}

// bench uses as many threads of the CPU as TENSORKEN_THREADS says, and says so.
func TestBenchThreads(t *testing.T) {
	t.Setenv("TENSORKEN_THREADS", "1")
	status, stdout, stderr := command("bench", "--ops", "add", "--sizes", "8", "--time", "1ms", "--device", "cpu")
	if first, _, _ := strings.Cut(stdout, "\n"); status != 0 || !strings.HasSuffix(first, " cores, 1 of them used") {
		t.Errorf("bench: status %d, %s, output %s, want a first line that says that 1 core is used", status, stderr, stdout)
	}
}

// stopAfter is a buffer that calls cancel when it contains a text.
type stopAfter struct {
	bytes.Buffer
	cancel func()
	text   string
}

func (s *stopAfter) Write(b []byte) (int, error) {
	n, err := s.Buffer.Write(b)
	if strings.Contains(s.String(), s.text) {
		s.cancel()
	}
	return n, err
}

// full is a writer that fails after room bytes.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.room {
		return 0, errors.New("no space left")
	}
	f.room -= len(b)
	return len(b), nil
}

// Output that cannot be written is an error of every command.
func TestFullOutput(t *testing.T) {
	csv, model := write(t, "points.csv", quadrants()), filepath.Join(t.TempDir(), "m.safetensors")
	const want = "tensorken: the output could not be written: no space left"
	for _, args := range [][]string{
		{"train", "--data", csv, "--out", model, "--epochs", "2", "--device", "cpu"},
		{"train", "--data", csv, "--out", model, "--epochs", "1", "--device", "cpu", "--json"},
		{"predict", model, "--data", csv, "--device", "cpu"},
		{"bench", "--ops", "add", "--sizes", "8", "--time", "1ms", "--device", "cpu"},
		{"bench", "--ops", "add", "--sizes", "8", "--time", "1ms", "--device", "cpu", "--json"},
		{"gpu", "--help"},
		{"completion", "bash"},
		{"--help"},
	} {
		for _, room := range []int{0, 100} {
			var stderr bytes.Buffer
			status := run(context.Background(), args, &full{room}, &stderr)
			if lines := strings.Split(strings.TrimSpace(stderr.String()), "\n"); status != 1 || lines[len(lines)-1] != want {
				t.Errorf("%v with room for %d bytes: status %d, standard error %s, want status 1 and %s", args, room, status, stderr.String(), want)
			}
		}
	}
	if _, err := os.Stat(model); err != nil {
		t.Errorf("train whose output could not be written saved no model: %v", err)
	}
}

func TestBadInput(t *testing.T) {
	t.Chdir(t.TempDir()) // train without --out begins a file in the working folder
	good := write(t, "good.csv", quadrants())
	model := filepath.Join(t.TempDir(), "m.safetensors")
	if status, _, stderr := command("train", "--data", good, "--out", model, "--epochs", "1", "--device", "cpu"); status != 0 {
		t.Fatal(stderr)
	}
	truncated, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	lying := bytes.Replace(truncated, []byte(`[256,2]`), []byte(`[256,9]`), 1)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"train", "--model", "gpt"}, `no model "gpt": want one of cnn, mlp`},
		{[]string{"train", "--epochs", "-1"}, "--epochs is -1"},
		{[]string{"train", "--epochs", "0"}, "--epochs is 0, want at least 1"},
		{[]string{"train", "--lr", "0"}, "--lr is 0, want a number above 0"},
		{[]string{"train", "--lr", "NaN"}, "--lr is NaN"},
		{[]string{"train", "--lr", "Inf"}, "--lr is +Inf"},
		{[]string{"train", "--batch", "0"}, "--batch is 0"},
		{[]string{"train", "--lr", "-2"}, "--lr is -2"},
		{[]string{"train", "--lr", "fast"}, "fast"},
		{[]string{"train", "--device", "abacus"}, "abacus"},
		{[]string{"train", "extra"}, "extra"},
		{[]string{"frobnicate"}, "frobnicate"},
		{[]string{"train", "--data", "nowhere.csv"}, "nowhere.csv"},
		{[]string{"train", "--out", filepath.Join(t.TempDir(), "no", "where")}, "--out"},
		{[]string{"train", "--out", t.TempDir()}, "is a folder"},
		{[]string{"train", "--data", write(t, "text.csv", "a,b\n1,2\n3,x\n")}, "text.csv: "},
		{[]string{"train", "--data", write(t, "ragged.csv", "1,2\n3,4,5\n")}, "ragged.csv: "},
		{[]string{"train", "--data", write(t, "empty.csv", "")}, "empty.csv: "},
		{[]string{"train", "--data", write(t, "header.csv", "a,b\n")}, "header.csv: "},
		{[]string{"train", "--data", write(t, "narrow.csv", "1\n2\n")}, "want rows of at least one number and a class"},
		{[]string{"train", "--data", write(t, "half.csv", "1,2\n1,2.5\n")}, "row 2: class 2.5 is not a whole number"},
		{[]string{"train", "--data", write(t, "nan.csv", "a,b,c\n1,2,0\n1,nan,1\n")}, "nan.csv: row 2, column 2: NaN is not a finite number"},
		{[]string{"train", "--data", write(t, "inf.csv", "1,2,0\n-Inf,2,1\n")}, "inf.csv: row 2, column 1: -Inf is not a finite number"},
		{[]string{"train", "--data", write(t, "class.csv", "1,2,0\n1,2,NaN\n")}, "class.csv: row 2, column 3: NaN is not a finite number"},
		{[]string{"train", "--data", write(t, "large.csv", "1,2\n1,16777217\n")}, "row 2: class 16777216 is too large: want a magnitude below 16777216"},
		{[]string{"train", "--data", write(t, "negative.csv", "1,-2e9\n")}, "row 1: class -2000000000 is too large"},
		{[]string{"predict", model, "--data", write(t, "nan.csv", "1,nan,0\n")}, "row 1, column 2: NaN"},
		{[]string{"train", "--data", write(t, "one.csv", "1,2\n")}, "too few"},
		{[]string{"train", "--data", good, "--model", "cnn"}, "2 numbers are not a square"},
		{[]string{"predict"}, "arg"},
		{[]string{"predict", "nowhere.safetensors"}, "nowhere.safetensors"},
		{[]string{"predict", good}, "good.csv"},
		{[]string{"predict", model}, "evaluate it on with --data"},
		{[]string{"predict", model, "--data", write(t, "wide.csv", "1,2,3,0\n")}, "rows have 3 numbers and a class, the model needs 2"},
		{[]string{"predict", model, "--data", write(t, "other.csv", "1,2,7\n")}, "class 7 is not among the model's classes [0 5 10 15]"},
		{[]string{"predict", write(t, "cut.safetensors", string(truncated[:len(truncated)/2])), "--data", good}, "cut.safetensors"},
		{[]string{"predict", write(t, "lying.safetensors", string(lying)), "--data", good}, "lying.safetensors"},
	} {
		status, _, stderr := command(c.args...)
		line := strings.TrimSuffix(stderr, "\n")
		if status != 1 || !strings.HasPrefix(line, "tensorken: ") || strings.Contains(line, "\n") || !strings.Contains(line, c.want) {
			t.Errorf("%v: status %d, standard error %q, want status 1 and one line …%s…", c.args, status, stderr, c.want)
		}
	}
}
