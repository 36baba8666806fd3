package bench

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

// programs returns the folder of the peers' programs.
func programs(t *testing.T) string {
	dir := filepath.Join("..", "..", "bench", "peers")
	if _, err := os.Stat(filepath.Join(dir, "python", "peer.py")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The peers of bench/peers in Python that are installed here agree with this library. Peers
// in Go would be downloaded.
func TestInstalled(t *testing.T) {
	o := quick()
	o.Dir = programs(t)
	if testing.Short() {
		t.Skip("imports PyTorch eight times")
	}
	found, missing, err := FindPeers(t.Context(), Suite{Works, Peers[:2]}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		t.Logf("%s: %s", m.Name, m.Reason)
	}
	if len(found) == 0 {
		t.Skip("neither NumPy nor PyTorch is installed")
	}
	o.Works = append(o.Works, work("mul/1M"), work("mlp/64"))
	rows, err := Compare(t.Context(), o, found, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Logf("%+v", r)
	}
}

// The works of GPUs in PyTorch agree with this library's.
func TestInstalledGPU(t *testing.T) {
	if testing.Short() {
		t.Skip("imports PyTorch four times")
	}
	s := SuiteOf("cuda")
	s.Peers = s.Peers[:1] // the others compile for a minute, or need a GPU
	o := PeerOptions{
		Dir: programs(t), Device: "cpu", Threads: 1, Time: time.Nanosecond,
		OpenGPU: func() (*tensor.Device, error) { return tensor.NewCPU(nil), nil },
	}
	found, missing, err := FindPeers(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skip("PyTorch is not installed: ", missing[0].Reason)
	}
	var names []string
	for _, w := range s.Works {
		names = append(names, w.Name)
		if slices.Contains([]string{"argmax/4096", "columnsums/4096", "exp/1M", "mlp/64"}, w.Name) {
			o.Works = append(o.Works, w)
		}
	}
	slices.Sort(names)
	slices.Sort(found[0].works)
	if !slices.Equal(names, found[0].works) {
		t.Errorf("works of PyTorch: %q, want %q", found[0].works, names)
	}
	if rows, err := Compare(t.Context(), o, found, io.Discard); err != nil || len(rows) < len(o.Works) {
		t.Errorf("Compare gives %v, %v", rows, err)
	}
}
