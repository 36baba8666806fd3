package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProfile(t *testing.T) {
	if testing.Short() {
		t.Skip("profiles all models")
	}
	for _, model := range profileNames() {
		path := filepath.Join(t.TempDir(), "trace.json")
		status, stdout, stderr := command("profile", "--model", model, "--device", "cpu", "--steps", "2", "--trace", path)
		if status != 0 {
			t.Fatalf("profile of %s: status %d, %s", model, status, stderr)
		}
		for _, want := range []string{model + ": 2 training steps on cpu, ", "\ncpu: ", " contraction ", ".go:", "GFLOP/s"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("profile of %s lacks %q:\n%s", model, want, stdout)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ TraceEvents []map[string]any }
		if err := json.Unmarshal(data, &file); err != nil || len(file.TraceEvents) < 10 {
			t.Errorf("profile of %s wrote %d events, %v", model, len(file.TraceEvents), err)
		}
	}
}

func TestProfileWork(t *testing.T) {
	if testing.Short() {
		t.Skip("measures the device")
	}
	status, stdout, stderr := command("profile", "--work", "softmax/4096", "--device", "cpu", "--steps", "2")
	if want := "softmax/4096: 2 runs on cpu, "; status != 0 || !strings.Contains(stdout, want) || !strings.Contains(stdout, "ReduceMax") {
		t.Errorf("status %d, %s, want %q and a kernel of a softmax:\n%s", status, stderr, want, stdout)
	}
}

func TestProfileMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--model", "tree"}, `no model "tree": want one of cnn, mlp, transformer`},
		{[]string{"--work", "tree", "--device", "cpu"}, `no work "tree" on cpu: want one of matmul/`},
		{[]string{"--steps", "0"}, "--steps is 0, want at least 1"},
		{[]string{"--trace", t.TempDir()}, "is a folder, want a file"},
		{[]string{"--device", "abacus"}, "abacus"},
		{[]string{"more"}, `unexpected argument "more"`},
	} {
		status, _, stderr := command(append([]string{"profile"}, c.args...)...)
		if status != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("profile %q: status %d, %q, want 1 and %q", c.args, status, stderr, c.want)
		}
	}
}
