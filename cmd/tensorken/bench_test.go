package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/internal/wgpu"
)

func TestBench(t *testing.T) {
	status, stdout, stderr := command("bench", "--sizes", "8,16", "--time", "1ms", "--device", "cpu", "--threads", "1")
	if status != 0 {
		t.Fatalf("bench: status %d, %s", status, stderr)
	}
	if !strings.Contains(stdout, "GFLOP/s") || strings.Contains(stdout, "│  ratio") {
		t.Errorf("bench on one device printed\n%s", stdout)
	}
	for _, op := range bench.Ops {
		for _, layout := range bench.Layouts {
			if got := strings.Count(stdout, fmt.Sprintf("\n%-13s  %s ", op.Name, layout)); got != 2 {
				t.Errorf("bench printed %d lines of %s %s, want 2:\n%s", got, op.Name, layout, stdout)
			}
		}
	}
}

func TestBenchJSON(t *testing.T) {
	status, stdout, stderr := command("bench", "--ops", "mul,matmul", "--max", "64", "--time", "1ms", "--device", "cpu", "--json")
	if status != 0 {
		t.Fatalf("bench --json: status %d, %s", status, stderr)
	}
	var got struct {
		Machine, Adapter *string
		Rows             []map[string]any
	}
	d := json.NewDecoder(strings.NewReader(stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil || strings.Count(stdout, "\n") != 1 {
		t.Fatalf("bench --json printed %q: %v", stdout, err)
	}
	if got.Machine == nil || !strings.Contains(*got.Machine, "cores") || got.Adapter == nil || len(got.Rows) != 4 {
		t.Errorf("bench --json printed %s", stdout)
	}
	for _, r := range got.Rows {
		for _, key := range []string{"seconds", "flops_per_s", "bytes_per_s"} {
			if v, ok := r[key].(float64); !ok || v <= 0 {
				t.Errorf("row %v has %s %v", r, key, r[key])
			}
			delete(r, key)
		}
	}
	row := func(op, layout string) map[string]any {
		return map[string]any{"op": op, "layout": layout, "n": 64.0, "device": "cpu"}
	}
	want := []map[string]any{row("mul", "contiguous"), row("mul", "noncontiguous"), row("matmul", "contiguous"), row("matmul", "noncontiguous")}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestBenchPlot(t *testing.T) {
	for _, c := range []struct {
		name  string
		check func(r io.Reader) error
	}{
		{"b.PNG", func(r io.Reader) error { _, err := png.Decode(r); return err }},
		{"b.svg", func(r io.Reader) error {
			var picture struct{ XMLName xml.Name }
			if err := xml.NewDecoder(r).Decode(&picture); err != nil {
				return err
			}
			if picture.XMLName.Local != "svg" {
				t.Errorf("%s holds a %s", "b.svg", picture.XMLName.Local)
			}
			return nil
		}},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		status, _, stderr := command("bench", "--sizes", "8,16", "--time", "1ms", "--device", "cpu", "--plot", path)
		if status != 0 {
			t.Errorf("bench --plot %s: status %d, %s", c.name, status, stderr)
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := c.check(bytes.NewReader(b)); err != nil {
			t.Errorf("bench --plot %s: %v", c.name, err)
		}
	}
	// One size, and a missing operation.
	path := filepath.Join(t.TempDir(), "one.png")
	if err := plotBench(path, []bench.Row{{Op: "exp", N: 64, Layout: bench.Contiguous, Device: "cpu", FlopsPerS: 1e9, BytesPerS: 8e9}}); err != nil {
		t.Errorf("plotBench of one row: %v", err)
	}
}

func TestBenchTable(t *testing.T) {
	var b bytes.Buffer
	printBenchHead(&b, []benchDevice{{name: "cpu"}, {name: "webgpu"}})
	cell := bench.Cell{Op: bench.Ops[0], N: 1024, Layout: bench.Contiguous}
	fast := &bench.Row{Seconds: 2e-6, FlopsPerS: 5e11, BytesPerS: 4e12}
	slow := &bench.Row{Seconds: 0.25, FlopsPerS: 4e6, BytesPerS: 3.2e7}
	printBenchLine(&b, cell, []*bench.Row{slow, fast})
	printBenchLine(&b, cell, []*bench.Row{nil, fast})
	want := `
                                      │ cpu                              │ webgpu
operation      layout              n  │       time      GB/s    GFLOP/s  │       time      GB/s    GFLOP/s  │  ratio
exp            contiguous       1024  │     250 ms     0.032      0.004  │    2.00 µs      4000        500  │ 125000
exp            contiguous       1024  │          -         -          -  │    2.00 µs      4000        500  │      -
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestBenchBadInput(t *testing.T) {
	t.Setenv(wgpu.Variable, filepath.Join(t.TempDir(), "no library"))
	nowhere := filepath.Join(t.TempDir(), "no", "b.png")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--ops", "exp,cosh"}, `--ops has "cosh", want some of exp, add, mul, sum, sum_to_scalar, matmul`},
		{[]string{"--sizes", "64,65"}, "--sizes has 65, want even numbers from 2 to 65536"},
		{[]string{"--sizes", "0"}, "--sizes has 0"},
		{[]string{"--max", "32"}, "--max is 32, want 64 to 65536"},
		{[]string{"--max", "9223372036854775807"}, "--max is 9223372036854775807, want 64 to 65536"},
		{[]string{"--sizes", "4294967296"}, "--sizes has 4294967296"},
		{[]string{"--threads", "-1"}, "--threads is -1"},
		{[]string{"--threads", "100000"}, "--threads is 100000, want 1 to "},
		{[]string{"--time", "-1s"}, "--time is -1s"},
		{[]string{"--time", "0"}, "--time is 0s, want more than 0"},
		{[]string{"--device", "abacus"}, "abacus"},
		{[]string{"--device", "cpu,abacus"}, "abacus"},
		{[]string{"--device", "cpu,webgpu"}, `device "webgpu": no WebGPU library`},
		{[]string{"--device", "cpu,cpu"}, "twice"},
		{[]string{"--device", "cpu,"}, "empty name"},
		{[]string{"--plot", "b.gif"}, "want a file that ends in .png or .svg"},
		{[]string{"--plot", nowhere}, "--plot " + nowhere + ": " + filestest.NoFolder(t)},
		{[]string{"extra"}, "extra"},
		{[]string{"--works", "exp"}, "--works goes only with --peers or --ranks"},
		{[]string{"--ranks", "--python", "python3"}, "--python goes only with --peers"},
		{[]string{"--peers=false", "--works", "exp"}, "--works goes only with --peers or --ranks"},
		{[]string{"--ranks", "--ops", "exp"}, "--ops does not go with --ranks"},
		{[]string{"--python", "python3"}, "--python goes only with --peers"},
		{[]string{"--peers", "--sizes", "64"}, "--sizes does not go with --peers"},
		{[]string{"--peers", "--plot", "b.png"}, "--plot does not go with --peers"},
		{[]string{"--model", "none", "--time", "0s"}, "--time does not go with --model"},
		{[]string{"--model", "none", "--threads", "1"}, "--threads does not go with --model"},
		{[]string{"--model", "none", "--peers"}, "--model does not go with --peers"},
		{[]string{"--ranks", "--json"}, "--json does not go with --ranks"},
		{[]string{"--ranks", "--time", "0"}, "--time is 0s, want more than 0"},
		{[]string{"--cache-type", "f16"}, "--cache-type goes only with --model"},
		{[]string{"--peers", "--device", "cpu,cuda"}, "--device names 2 devices: with --peers, want one"},
		{[]string{"--peers", "--peers-dir", ".", "--device", "tpu"}, `device "tpu": there is no such device`},
		{[]string{"--peers", "--time", "0"}, "--time is 0s, want more than 0"},
		{[]string{"--peers"}, "there is no folder " + filepath.Join("bench", "peers") + ": run it in a clone of the repository"},
		{[]string{"--peers", "--peers-dir", ".", "--works", "("}, "--works: error parsing regexp"},
		{[]string{"--peers", "--peers-dir", ".", "--works", "fft"}, "--works fft: no work has such a name, but matmul/64, "},
	} {
		status, _, stderr := command(append([]string{"bench"}, c.args...)...)
		if status != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("bench %v: status %d, standard error %q, want status 1 and one line …%s…", c.args, status, stderr, c.want)
		}
	}
}

// A bench that is told to stop prints the rows that it has.
func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := benchOptions{ops: []string{"mul"}, sizes: []int{8, 16}, devices: []string{"cpu"}, threads: 1, budget: time.Millisecond, json: true}
	var out strings.Builder
	err := o.run(ctx, &out, cancelAfter{"mul ", cancel})
	var got struct{ Rows []bench.Row }
	if failed := json.Unmarshal([]byte(out.String()), &got); failed != nil || len(got.Rows) != 1 || err == nil || err.Error() != "interrupted" {
		t.Errorf("printed %q, error %v; want one row and that it was interrupted", out.String(), err)
	}
}

// A cancelAfter cancels once a text is written.
type cancelAfter struct {
	text   string
	cancel func()
}

func (c cancelAfter) Write(b []byte) (int, error) {
	if strings.Contains(string(b), c.text) {
		c.cancel()
	}
	return len(b), nil
}
