package policy

import (
	"os"
	"path/filepath"
	"testing"
)

// maxAssembly is the most that assembly may add to a program, in bytes.
const maxAssembly = 1_250_000

// TestAssemblySize compares the sizes of a program with and without assembly, for amd64,
// which has most of it.
func TestAssemblySize(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program twice")
	}
	t.Setenv("GOARCH", "amd64")
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	text := "package main\n\nimport \"" + module + "/tensor\"\n\nfunc main() { println(tensor.Scalar(1).Add(1).Item()) }\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var size []int64
	for _, tags := range []string{"", "noasm"} {
		program := filepath.Join(dir, "program"+tags)
		goTool(t, "build", "-tags", tags, "-o", program, source)
		info, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		size = append(size, info.Size())
	}
	added := size[0] - size[1]
	t.Logf("a program takes %d bytes, %d without assembly: %d more", size[0], size[1], added)
	if added < 100_000 || added > maxAssembly {
		t.Errorf("assembly adds %d bytes to a program, want 100,000 to %d", added, maxAssembly)
	}
}
