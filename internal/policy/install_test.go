package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// editCommand is how a module of a user gets this one, from a clone beside it.
var editCommand = regexp.MustCompile(`(?m)^    go (mod edit .*)\n    go mod tidy$`)

// TestInstall makes a module for the first program of README.md, by the lines of README.md, with an empty home folder
// and module cache.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("it unpacks a module cache")
	}
	dir, clone := t.TempDir(), root
	clone, err := filepath.Abs(clone)
	if err != nil {
		t.Fatal(err)
	}
	goTool(t, "mod", "download")
	goTool(t, "mod", "tidy", "-diff") // fetches requirements of requirements and of their tests, which builds of this module leave out
	env := append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(filepath.Join(strings.TrimSpace(goTool(t, "env", "GOMODCACHE")), "cache", "download")),
		"HOME="+dir, "GOCACHE="+strings.TrimSpace(goTool(t, "env", "GOCACHE")),
		"GOMODCACHE="+filepath.Join(dir, "cache"), "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOWORK=off")
	edit := editCommand.FindStringSubmatch(text(t, "README.md"))
	if edit == nil {
		t.Fatal("README.md has no line with go mod edit")
	}
	module := filepath.Join(dir, "sine")
	if err := os.MkdirAll(module, 0o755); err != nil {
		t.Fatal(err)
	}
	program := goBlock.FindStringSubmatch(text(t, "README.md"))[1]
	if err := os.WriteFile(filepath.Join(module, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"mod", "init", "example"}, strings.Fields(strings.ReplaceAll(edit[1], "../tensorken", clone)), {"mod", "tidy"}, {"list", "-deps"},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = module, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
