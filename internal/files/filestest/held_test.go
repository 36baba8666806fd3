//go:build unix || windows

package filestest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/files"
)

// holders are ways in which another program may have a file open.
var holders = map[string]func(path string) (release func(), err error){
	"a reader of the library": func(path string) (func(), error) { return held(files.Open(path)) },
	"another reader":          func(path string) (func(), error) { return held(os.Open(path)) },
	"a mapping":               mapped,
}

func held(f *os.File, err error) (func(), error) { return func() { f.Close() }, err }

// TestProcess is the other process of tests. It prints a line when it has begun the work of its
// arguments.
func TestProcess(t *testing.T) {
	args := strings.Split(os.Getenv("TENSORKEN_TEST_PROCESS"), "|")
	switch args[0] {
	case "":
		t.Skip("runs in another test's process")
	case "write":
		files.Replace(args[1], func(*bufio.Writer) error {
			fmt.Println("begun")
			time.Sleep(time.Hour)
			return nil
		})
	case "hold", "hold on":
		for {
			entries, err := os.ReadDir(args[2])
			if err != nil {
				t.Fatal(err)
			}
			var release []func()
			for _, e := range entries {
				r, err := holders[args[1]](filepath.Join(args[2], e.Name()))
				if err == nil {
					release = append(release, r)
				}
			}
			fmt.Println("begun")
			time.Sleep(time.Second)
			for _, r := range release {
				r()
			}
			if args[0] == "hold" {
				return
			}
		}
	}
}

// start starts TestProcess and waits until it has begun.
func start(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestProcess$")
	c.Env = append(os.Environ(), "TENSORKEN_TEST_PROCESS="+strings.Join(args, "|"))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "begun" {
		t.Fatalf("the process for %q says %q, %v", args, line, err)
	}
	return c
}

// TestReplaceHeld saves each format in place of a file that another process has open: for a
// second, or for a second time and again. Saving succeeds, or fails on Windows after a while with
// an error that says why, and the old file stays.
func TestReplaceHeld(t *testing.T) {
	for holder := range holders {
		for _, how := range []string{"hold", "hold on"} {
			t.Run(holder+", "+how, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				for _, f := range formats {
					if err := f.save(filepath.Join(dir, f.name), 1); err != nil {
						t.Fatal(err)
					}
				}
				other := start(t, how, holder, dir)
				failed := make([]error, len(formats))
				var group sync.WaitGroup
				for i, f := range formats {
					group.Go(func() { failed[i] = f.save(filepath.Join(dir, f.name), 2) })
				}
				group.Wait()
				other.Process.Kill()
				other.Wait()
				for i, f := range formats {
					want := 2
					if err := failed[i]; err != nil {
						want = 1
						text := err.Error()
						if how == "hold" || runtime.GOOS != "windows" || f.name != "cache" && !strings.Contains(text, f.name) ||
							!strings.HasSuffix(text, "another program has it open: close it there, and try again") {
							t.Errorf("saving %s: %v", f.name, err)
						}
					}
					n, err := f.load(filepath.Join(dir, f.name))
					// SaveSharded removes the index before it writes shards.
					if n != want && !(failed[i] != nil && strings.HasSuffix(f.name, "index.json") && errors.Is(err, fs.ErrNotExist)) {
						t.Errorf("%s has %d, %v, want %d (saving: %v)", f.name, n, err, want, failed[i])
					}
				}
				for _, name := range list(t, dir) {
					// Another program may have the temporary file open too, which Windows then keeps.
					if strings.HasSuffix(name, ".tmp") && errors.Join(failed...) == nil {
						t.Errorf("saving leaves %s", name)
					}
				}
			})
		}
	}
}

// A temporary file stays while its writer lives, and no longer.
func TestReplaceKilled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	other := start(t, "write", path)
	for _, want := range []int{2, 1} {
		if err := files.Replace(path, func(w *bufio.Writer) error { return w.WriteByte(1) }); err != nil {
			t.Errorf("Replace beside another process: %v", err)
		}
		if names := list(t, dir); len(names) != want {
			t.Errorf("Replace leaves %q, want %d", names, want)
		}
		other.Process.Kill()
		other.Wait()
	}
}
