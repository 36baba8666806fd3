package plot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/plot"
)

func TestWatchFiles(t *testing.T) {
	dir := t.TempDir()
	png, svg := filepath.Join(dir, "run.png"), filepath.Join(dir, "run.svg")
	watch := plot.WatchFiles[map[string]float64](png, svg)
	var history []map[string]float64
	sizes := map[string]int{}
	for epoch := range 3 {
		history = append(history, map[string]float64{"loss": 1 / float64(epoch+1), "accuracy": 0.5})
		if err := watch(history); err != nil {
			t.Fatal(err)
		}
		for path, start := range map[string]string{png: "\x89PNG", svg: "<?xml"} {
			b, err := os.ReadFile(path)
			if err != nil || !strings.HasPrefix(string(b), start) || len(b) == sizes[path] {
				t.Errorf("after %d epochs %s has %d bytes, %v; %d before", epoch+1, path, len(b), err, sizes[path])
			}
			sizes[path] = len(b)
		}
	}
	if b, _ := os.ReadFile(svg); !strings.Contains(string(b), "accuracy") {
		t.Errorf("the drawing does not name the metrics:\n%s", b)
	}
	if err := plot.WatchFiles[map[string]float64]("run.txt")(history); err == nil {
		t.Error("a file of an unknown kind: no error")
	}
}
