package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestReadme runs the README's Go programs.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlock.FindAllSubmatch(readme, -1)
	if len(blocks) == 0 {
		t.Fatal("README.md has no Go program")
	}
	for _, b := range blocks {
		name := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(name, b[1], 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "run", name)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) == 0 {
			t.Errorf("go run: %v, output:\n%s\nof the README's program\n%s", err, out, b[1])
		}
	}
}
