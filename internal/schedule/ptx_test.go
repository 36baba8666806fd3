package schedule

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/internal/ptx"
)

// TestPTX has the assembler of NVIDIA, where it is installed, take the passes of typical kernels.
func TestPTX(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not on the PATH")
	}
	for _, c := range typical {
		t.Run(c.name, func(t *testing.T) {
			for _, q := range compile(t, c.kernel, c.target).Passes {
				text := ptx.Print(q)
				file := filepath.Join(t.TempDir(), "kernel.ptx")
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.Command(ptxas, "-arch=sm_90", "-o", os.DevNull, file).CombinedOutput(); err != nil {
					t.Errorf("%v\n%s\n%s", err, out, text)
				}
			}
		})
	}
}
