package grad_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// deep is a network of 50 layers, cut into pieces.
type deep []nn.Linear

func (d deep) apply(x tensor.Tensor) tensor.Tensor {
	for _, l := range d {
		x = l.Apply(x).GELU()
	}
	return x
}

// pieces applies a network in n checkpointed pieces, each of them in n of its
// own, to a depth.
func (d deep) pieces(x tensor.Tensor, n, depth int) tensor.Tensor {
	if depth == 0 || len(d) < 2 {
		return d.apply(x)
	}
	for i := range n {
		part := d[len(d)*i/n : len(d)*(i+1)/n]
		x = grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor { return part.pieces(x, n, depth-1) })(x)
	}
	return x
}

// activations applies a network whose activations alone are checkpointed.
func (d deep) activations(x tensor.Tensor) tensor.Tensor {
	for _, l := range d {
		x = grad.Checkpoint(tensor.Tensor.GELU)(l.Apply(x))
	}
	return x
}

// A value that is computed keeps no arguments of the call with a derivative of its own that it
// is a result of: loops that pass it on hold as much after any number of steps.
func TestResultsDropArguments(t *testing.T) {
	if testing.Short() {
		t.Skip("collects often")
	}
	softmax := func(x tensor.Tensor) tensor.Tensor { return x.Mul(2).Softmax(-1) }
	for name, step := range map[string]func(tensor.Tensor) tensor.Tensor{
		"softmax":    softmax,
		"Vmap":       grad.Vmap(softmax),
		"VJP":        func(x tensor.Tensor) tensor.Tensor { y, _ := grad.VJP(softmax, x); return y },
		"Checkpoint": grad.Checkpoint(softmax),
		"Custom":     grad.Custom(softmax, func(_, _, ct tensor.Tensor) tensor.Tensor { return ct }),
	} {
		s := tensor.NewRNG(7).Normal(64, 1024)
		held := func(steps int) int64 {
			for range steps {
				s = step(s)
				if err := tensor.Eval(s); err != nil {
					t.Fatal(err)
				}
			}
			var held int64
			for range 4 {
				runtime.GC()
				time.Sleep(time.Millisecond)
				held = tensor.Info().Held
			}
			runtime.KeepAlive(s)
			return held
		}
		if one, many := held(1), held(20); many > one+1<<18 {
			t.Errorf("%s: %d bytes are held after a step, %d after 21", name, one, many)
		}
	}
}

// A way says how a network is checkpointed: its activations, or in pieces.
type way struct {
	Activations   bool
	Pieces, Depth int
}

func (w way) apply(d deep, x tensor.Tensor) tensor.Tensor {
	if w.Activations {
		return d.activations(x)
	}
	return d.pieces(x, w.Pieces, w.Depth)
}

// measured returns the peak of a training step, in bytes above its start, in this process.
func measured(t *testing.T, w way) (peak int64, loss float64) {
	rng := tensor.NewRNG(1)
	net := make(deep, 50)
	for i := range net {
		net[i] = nn.NewLinear(rng, 64, 64)
	}
	x := rng.Normal(4096, 64)
	if err := tensor.Eval(net, x); err != nil {
		t.Fatal(err)
	}
	value, g := grad.ValueAndGrad(func(d deep) tensor.Tensor { return w.apply(d, x).Square().Mean() })(net)
	held := tensor.Info().Held
	if err := tensor.Eval(value, g); err != nil {
		t.Fatal(err)
	}
	return tensor.Info().Peak - held, value.Item()
}

// TestCheckpointMemory measures each way in a process of its own, because a peak is counted
// by process.
func TestCheckpointMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	if runtime.GOOS == "js" {
		t.Skip("js starts no processes")
	}
	type result struct {
		Peak int64
		Loss float64
	}
	const variable = "TENSORKEN_TEST_CHECKPOINT"
	if text := os.Getenv(variable); text != "" {
		var w way
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			t.Fatal(err)
		}
		peak, loss := measured(t, w)
		if err := json.NewEncoder(os.Stdout).Encode(result{peak, loss}); err != nil {
			t.Fatal(err)
		}
		return
	}
	run := func(w way) (r result) {
		text, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestCheckpointMemory$")
		cmd.Env = append(os.Environ(), variable+"="+string(text))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := json.NewDecoder(bytes.NewReader(out)).Decode(&r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	plain := run(way{})
	for _, c := range []struct {
		way
		less float64
	}{
		{way{Activations: true}, 0.95}, // the compiler computes them again by itself
		{way{Pieces: 7, Depth: 1}, 3},
		{way{Pieces: 4, Depth: 2}, 5},
	} {
		r := run(c.way)
		less := float64(plain.Peak) / float64(r.Peak)
		t.Logf("%+v: %.1f MB, %.1f times less than %.1f MB", c.way, float64(r.Peak)/1e6, less, float64(plain.Peak)/1e6)
		if less < c.less {
			t.Errorf("%+v takes %.1f times less memory, want %v", c.way, less, c.less)
		}
		if r.Loss != plain.Loss {
			t.Errorf("%+v gives the loss %v, without it is %v", c.way, r.Loss, plain.Loss)
		}
	}
}

// TestSharedTable looks up a table that all examples share: its gradient is one
// table, not one for each example that are then added.
func TestSharedTable(t *testing.T) {
	table, ids := tensor.Ones(100, 8), tensor.New([]int32{3, 5, 3, 99, 0, 7}, 3, 2)
	loss := func(rows tensor.Tensor) tensor.Tensor { return rows.Square().Sum() }
	at := grad.Of(func(table tensor.Tensor) tensor.Tensor {
		return grad.Vmap(func(id tensor.Tensor) tensor.Tensor { return loss(table.Take(0, id)) })(ids).Sum()
	})(table)
	once := grad.Of(func(table tensor.Tensor) tensor.Tensor { return loss(table.Take(0, ids)) })(table)
	if got, want := tensor.Explain(at), tensor.Explain(once); got != want {
		t.Errorf("the gradient through Vmap is computed by\n%swant\n%s", got, want)
	}
}
