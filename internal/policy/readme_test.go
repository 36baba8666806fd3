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

// TestPrograms runs the Go programs of pages.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	for _, page := range []string{"README.md", "docs/devices.md", "docs/files.md"} {
		blocks := goBlock.FindAllStringSubmatch(text(t, page), -1)
		if len(blocks) == 0 {
			t.Errorf("%s has no Go program", page)
		}
		for i, b := range blocks {
			dir := t.TempDir()
			cmd := exec.Command(buildProgram(t, filepath.Join(dir, "program"), b[1]))
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil || len(out) == 0 {
				t.Errorf("%s, program %d: %v, output:\n%s", page, i, err, out)
			}
		}
	}
}

// TestPackagesNamed fails for a package that docs/packages.md lacks, if it is public, or docs/architecture.md.
func TestPackagesNamed(t *testing.T) {
	public, all := text(t, "docs/packages.md"), text(t, "docs/architecture.md")
	for _, dir := range sorted(packages(t)) {
		name := "`" + dir + "`"
		if isPublic(dir) && !strings.Contains(public, name) {
			t.Errorf("docs/packages.md does not name package %s", dir)
		}
		if !isProgram(dir) && !strings.Contains(all, name) {
			t.Errorf("docs/architecture.md does not name package %s", dir)
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
