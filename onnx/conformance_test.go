package onnx_test

import (
	"archive/tar"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/onnxcase"
	"github.com/tensorken/tensorken/tensor"
)

var update = flag.Bool("update", false, "rewrite testdata/manifest.txt")

// archive returns the folders of an archive.
func archive(t testing.TB, name string) map[string]fstest.MapFS {
	t.Helper()
	f, err := os.Open(path.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dirs := map[string]fstest.MapFS{}
	for r := tar.NewReader(brotli.NewReader(f)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return dirs
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		dir, file, _ := strings.Cut(h.Name, "/")
		if dirs[dir] == nil {
			dirs[dir] = fstest.MapFS{}
		}
		dirs[dir][file] = &fstest.MapFile{Data: data, Mode: fs.FileMode(h.Mode)}
	}
}

// useDevice makes the device that TENSORKEN_DEVICE names the default, and returns its kind.
func useDevice(t testing.TB) string {
	t.Helper()
	name := cmp.Or(os.Getenv("TENSORKEN_DEVICE"), "cpu")
	d, _, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	tensor.SetDefault(d)
	t.Cleanup(func() { tensor.SetDefault(nil) })
	kind, _, _ := strings.Cut(name, ":")
	return kind
}

// The cases of the standard's test suite have the verdicts of the manifest. -update rewrites it.
func TestConformance(t *testing.T) {
	useDevice(t)
	dirs := archive(t, "node.tar.br")
	var names []string
	for name := range dirs {
		names = append(names, name)
	}
	slices.Sort(names)
	lines := make([]string, len(names))
	var group sync.WaitGroup
	next := make(chan int)
	for range 2 {
		group.Go(func() {
			for i := range next {
				v, err := runCase(dirs[names[i]])
				lines[i] = names[i] + ": " + v.String()
				if err != nil {
					lines[i] += ": " + onnxcase.Reason(err)
				}
			}
		})
	}
	chosen := func(i int) bool { return i%3 == 0 || *update || !testing.Short() }
	for i := range names {
		if chosen(i) {
			next <- i
		}
	}
	close(next)
	group.Wait()
	ok := 0
	for _, l := range lines {
		if strings.HasSuffix(l, ": ok") {
			ok++
		}
	}
	t.Logf("%d of %d cases", ok, len(names))
	const manifest = "testdata/manifest.txt"
	if *update {
		if err := os.WriteFile(manifest, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(want) != len(lines) {
		t.Fatalf("the manifest has %d cases, the archive %d", len(want), len(lines))
	}
	for i := range lines {
		if !chosen(i) {
			continue
		}
		if got := verdict(lines[i]); got != verdict(want[i]) {
			t.Errorf("%s\nwant %s", lines[i], want[i])
		}
	}
}

// verdict is a line without its reason, whose text may differ.
func verdict(line string) string {
	parts := strings.SplitN(line, ": ", 3)
	return strings.Join(parts[:2], ": ")
}

func runCase(dir fs.FS) (v onnxcase.Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = onnxcase.CannotRun, fmt.Errorf("PANIC %v", r)
		}
	}()
	return onnxcase.Run(context.Background(), dir)
}
