package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

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
	var got bench.Report
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
