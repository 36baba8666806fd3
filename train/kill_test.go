package train_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
)

var kills = flag.Int("kills", 4, "how often TestKilled kills a run")

// childFolder names the folder of a run in a process of its own.
const childFolder = "TRAIN_TEST_FOLDER"

// killable is a run that writes a checkpoint every other step.
func killable(dir string) *netLoop {
	l := newNet(dir)
	l.Model[0], l.Model[1], l.Model[4] = nn.NewLinear(l.RNG, 3, 256), nn.NewBatchNorm(256), nn.NewLinear(l.RNG, 256, 2)
	l.Epochs, l.Steps, l.Every, l.CheckpointEvery = 0, 120, 20, 2
	return l
}

// TestChild is the run that TestKilled starts.
func TestChild(t *testing.T) {
	dir := os.Getenv(childFolder)
	if dir == "" {
		t.Skip("for TestKilled")
	}
	l := killable(dir)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "end"), []byte(end(t, l)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A process that is killed at random moments leaves a checkpoint that can be read, and ends,
// started again and again, with the bits of a run that was not killed. The flag -kills=200
// does so more often.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	whole := killable(t.TempDir())
	start := time.Now()
	if err := whole.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	longest := 50*time.Millisecond + time.Since(start)/2
	want := end(t, whole)
	rng := rand.New(rand.NewPCG(1, 2))
	killed, read, finished := 0, 0, 0
	for killed < *kills || finished == 0 {
		dir := t.TempDir()
		for done, limit := false, longest; !done; limit += limit / 8 { // so that a slow machine ends too
			cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
			cmd.Env = append(os.Environ(), childFolder+"="+dir)
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Duration(rng.Int64N(int64(limit))), func() { cmd.Process.Kill() })
			err := cmd.Wait()
			timer.Stop()
			switch {
			case err == nil:
				done = true
			case !strings.Contains(err.Error(), "killed") && !strings.Contains(err.Error(), "exit status 1") || strings.Contains(out.String(), "FAIL"):
				t.Fatalf("after %d kills the run ended with %v:\n%s", killed, err, out.String())
			default:
				killed++
			}
			path := filepath.Join(dir, "run.ckpt")
			if _, err := os.Stat(path); err != nil {
				continue // killed before the first checkpoint
			}
			f, err := safetensors.Open(path)
			if err == nil {
				for _, name := range f.Names() {
					if _, err = f.Tensor(name); err != nil {
						break
					}
				}
				f.Close()
			}
			if err != nil {
				t.Fatalf("after %d kills the checkpoint cannot be read: %v", killed, err)
			}
			read++
		}
		finished++
		if got, err := os.ReadFile(filepath.Join(dir, "end")); err != nil || string(got) != want {
			t.Fatalf("a run that was killed ended with %v\n%q, want\n%q", err, got, want)
		}
		if files, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(files) > 1 {
			t.Errorf("temporary files are left: %v, %v", files, err)
		}
	}
	t.Logf("%d kills, %d checkpoints read, %d runs finished", killed, read, finished)
}
