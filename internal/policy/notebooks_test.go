package policy

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var importBlock = regexp.MustCompile(`(?ms)^import \(\n(.*?)^\)\n`)

// TestNotebooks runs the cells of docs/notebooks.md as GoNB does: a program of the
// declarations so far, without unused imports, and of the lines after %%.
func TestNotebooks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	imports, declarations := "", ""
	for i, b := range goBlock.FindAllStringSubmatch(text(t, "docs/notebooks.md"), -1) {
		above, program, found := strings.Cut(b[1], "%%\n")
		if !found {
			t.Errorf("cell %d has no %%%%", i)
		}
		if m := importBlock.FindStringSubmatch(above); m != nil {
			imports += m[1]
		}
		declarations += importBlock.ReplaceAllString(above, "")
		used := ""
		for line := range strings.Lines(imports) {
			path := strings.Trim(line, "\t\n\"")
			if path != "" && strings.Contains(declarations+program, path[strings.LastIndex(path, "/")+1:]+".") {
				used += line
			}
		}
		path := filepath.Join(t.TempDir(), "cell")
		source := "package main\n\nimport (\n" + used + ")\n\n" + declarations + "func main() {\n" + program + "}\n"
		if out, err := exec.Command(buildProgram(t, path, source)).CombinedOutput(); err != nil || len(out) == 0 {
			t.Errorf("cell %d: %v, output:\n%s", i, err, out)
		}
	}
}
