package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/wgpu"
)

// requireGPU skips a test without a GPU, or with one in software alone.
func requireGPU(t *testing.T) {
	t.Helper()
	if os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" {
		return
	}
	_, adapters, err := findAdapters()
	if err != nil {
		t.Skip("no GPU: ", err)
	}
	if adapters[0].Kind == wgpu.Software {
		t.Skip("only a software GPU: TENSORKEN_REQUIRE_GPU=1 runs it all the same")
	}
}

// TestTrainOnGPU trains with the command's defaults: a GPU reaches the accuracy of the
// CPU.
func TestTrainOnGPU(t *testing.T) {
	requireGPU(t)
	train := func(device string) (r result) {
		t.Helper()
		status, stdout, stderr := command("train", "--device", device, "--out", filepath.Join(t.TempDir(), "digits.safetensors"), "--json")
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); status != 0 || err != nil {
			t.Fatalf("train --device %s: status %d, %s, last line %q", device, status, stderr, lines[len(lines)-1])
		}
		return r
	}
	cpu, gpu := train("cpu"), train("webgpu")
	if !strings.HasPrefix(gpu.Device, "webgpu (") {
		t.Errorf("train --device webgpu says that it ran on %q", gpu.Device)
	}
	if math.Abs(gpu.TestAccuracy-cpu.TestAccuracy) > 0.01 {
		t.Errorf("train reached %v on %s, want %v as on the CPU", gpu.TestAccuracy, gpu.Device, cpu.TestAccuracy)
	}
	t.Logf("%+v, %+v", cpu, gpu)
}
