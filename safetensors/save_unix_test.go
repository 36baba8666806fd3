//go:build darwin || linux

package safetensors

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

// A Save killed at any moment leaves the old file or the new one, and the next Save
// removes temporary files.
func TestSaveKilled(t *testing.T) {
	const variable = "SAVE_UNTIL_KILLED"
	type model struct{ A, B tensor.Tensor }
	at := func(i int) model {
		return model{tensor.Full(float64(i), 32<<10), tensor.Full(float64(i), 1)}
	}
	if path := os.Getenv(variable); path != "" { // the process to kill
		fmt.Println("ready")
		for i, start := 1, time.Now(); time.Since(start) < time.Minute; i++ {
			if err := Save(path, at(i)); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	if err := Save(path, at(0)); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	left := 0
	for range 20 {
		c := exec.Command(exe, "-test.run=^TestSaveKilled$")
		c.Env = append(os.Environ(), variable+"="+path)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		time.Sleep(rand.N(10 * time.Millisecond))
		c.Process.Kill()
		c.Wait()
		if line != "ready\n" {
			t.Fatalf("the process to kill said %q, %v", line, err)
		}
		var m model
		if err := Load(path, &m); err != nil {
			t.Fatalf("Load after a kill: %v", err)
		}
		if lo, hi := m.A.Min().Item(), m.A.Max().Item(); lo != hi || lo != m.B.Item() {
			t.Fatalf("a kill left a file of parts: %v to %v and %v", lo, hi, m.B)
		}
		if n := len(temporary(t, dir)); n > 0 {
			left++
		}
	}
	t.Logf("%d of 20 kills left a temporary file", left)
	if err := Save(path, at(0)); err != nil {
		t.Fatal(err)
	}
	if names := temporary(t, dir); len(names) > 0 {
		t.Errorf("Save after kills left %q", names)
	}
}

func temporary(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".tmp") {
			names = append(names, f.Name())
		}
	}
	return names
}
