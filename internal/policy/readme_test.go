package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestReadmePrograms runs the README's Go programs.
func TestReadmePrograms(t *testing.T) {
	blocks := goBlock.FindAllStringSubmatch(text(t, "README.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("README.md has no Go program")
	}
	for _, b := range blocks {
		name := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(name, []byte(b[1]), 0o644); err != nil {
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

// TestPackagesNamed fails for a package that the README or the design does not mention.
func TestPackagesNamed(t *testing.T) {
	readme, design := text(t, "README.md"), text(t, "docs/design.md")
	for _, dir := range sorted(packages(t)) {
		name := "`" + dir + "`"
		if isPublic(dir) && !strings.Contains(readme, name) {
			t.Errorf("README.md does not name package %s", dir)
		}
		if !isProgram(dir) && !strings.Contains(design, name) {
			t.Errorf("docs/design.md does not name package %s", dir)
		}
	}
}

// TestExamplesTested fails for an example or command without a test.
func TestExamplesTested(t *testing.T) {
	tested := map[string]bool{}
	for _, f := range sources(t) {
		tested[f.dir] = tested[f.dir] || f.isTest()
	}
	for _, dir := range sorted(tested) {
		if isProgram(dir) && !tested[dir] {
			t.Errorf("%s has no test", dir)
		}
	}
}
