package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tensorken/tensorken/internal/bench"
)

// TestBenchPeers runs without any peer.
func TestBenchPeers(t *testing.T) {
	args := []string{
		"bench", "--peers", "--peers-dir", t.TempDir(), "--python", filepath.Join(t.TempDir(), "python3"),
		"--works", "^(matmul/64|sum/1M)$", "--time", "1ms", "--threads", "1",
	}
	status, stdout, stderr := command(args...)
	if status != 0 {
		t.Fatalf("bench --peers: status %d, %s", status, stderr)
	}
	if got := strings.Count(stdout, ": not available: "); got != len(bench.Peers) {
		t.Errorf("bench --peers printed %d missing peers, want %d:\n%s", got, len(bench.Peers), stdout)
	}
	for _, want := range []string{", 1 of them used\n", "; to install: apt-get install python3-numpy", "\nmatmul/64  GFLOP/s", "\nsum/1M     Gelem/s"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("bench --peers lacks %q:\n%s", want, stdout)
		}
	}

	status, stdout, stderr = command(append(args, "--json")...)
	var got peerReport
	d := json.NewDecoder(strings.NewReader(stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil || status != 0 {
		t.Fatalf("bench --peers --json: status %d, %v, %s", status, err, stderr)
	}
	if got.Threads != 1 || len(got.Peers) != 0 || len(got.Missing) != len(bench.Peers) || len(got.Rows) != 2 || got.Rows[0].Values[bench.Ours] <= 0 {
		t.Errorf("bench --peers --json printed %s", stdout)
	}
	if !strings.Contains(stderr, "\nmatmul/64  GFLOP/s") {
		t.Errorf("bench --peers --json printed no table on standard error: %s", stderr)
	}
}

func TestPeerTable(t *testing.T) {
	var b bytes.Buffer
	printPeers(&b, peerReport{
		Peers: []bench.Found{{Name: "numpy"}, {Name: "pytorch"}},
		Rows: []bench.Comparison{
			{
				Work: "matmul/64", Unit: bench.GFLOPs, Values: map[string]float64{bench.Ours: 45, "numpy": 90, "pytorch": 100},
				Ratios: map[string]float64{"numpy": 0.5, "pytorch": 0.45}, Bar: bench.Bar{Times: 0.5, Peers: []string{"numpy"}}, Ratio: 0.5, Met: true, Spread: 0.123,
			},
			{
				Work: "mlp/64", Unit: bench.Millis, Values: map[string]float64{bench.Ours: 10, "pytorch": 10.4},
				Ratios: map[string]float64{"pytorch": 1.04}, Bar: bench.Bar{Times: 1.1, Peers: []string{"pytorch"}}, Ratio: 1.04,
			},
			{Work: "exp/1M", Unit: bench.GElems, Values: map[string]float64{bench.Ours: 2}, Bar: bench.Bar{Times: 1.3, Peers: []string{"numpy", "pytorch"}}},
			{Work: "gpt2/memory", Unit: bench.Memory, Values: map[string]float64{bench.Ours: 13}, Bar: bench.Bar{Most: 14}, Met: true},
			{
				Work: "gpt2", Unit: bench.Millis, Values: map[string]float64{bench.Ours: 10, "pytorch": 5},
				Ratios: map[string]float64{"pytorch": 0.5}, Bar: bench.Bar{Peers: []string{"pytorch"}}, Ratio: 0.5,
			},
		},
	})
	want := `
work         unit     tensorken  numpy        pytorch      ratio  bar                   met  spread
matmul/64    GFLOP/s  45.0       90.0 (0.50)  100 (0.45)   0.50   ≥ 0.5 numpy           yes  12 %
mlp/64       ms       10.0       -            10.4 (1.04)  1.04   ≥ 1.1 pytorch         no   0 %
exp/1M       Gelem/s  2.00       -            -            -      ≥ 1.3 numpy, pytorch  -    0 %
gpt2/memory  GB       13.0       -            -            -      ≤ 14                  yes  0 %
gpt2         ms       10.0       -            5.00 (0.50)  0.50   -                     -    0 %
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// TestBenchPeersGPU runs on a GPU without PyTorch.
func TestBenchPeersGPU(t *testing.T) {
	requireGPU(t)
	status, stdout, stderr := command("bench", "--peers", "--device", "webgpu", "--peers-dir", t.TempDir(),
		"--python", filepath.Join(t.TempDir(), "python3"), "--works", "^(exp/1M|mlp/64)$", "--time", "1ms")
	if status != 0 {
		t.Fatalf("bench --peers --device webgpu: status %d, %s", status, stderr)
	}
	for _, want := range []string{"\ndevice: ", "\npytorch: not available: ", "\nexp/1M         µs ", "≤ 9 ", "\nmlp/64         ms ", "≤ 0.25 ", "\nmlp/64/memory  GB "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("bench --peers --device webgpu lacks %q:\n%s", want, stdout)
		}
	}
}
