package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// moduleCommands make and run a module that uses this one, from a clone beside it.
var moduleCommands = regexp.MustCompile(`    go mod init (?:.*\n    go )+.*`)

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
	commands := strings.Split(moduleCommands.FindString(text(t, "README.md")), "\n")
	if len(commands) < 4 {
		t.Fatalf("README.md has the commands %q, want go mod init, edit and tidy, and go run", commands)
	}
	module := filepath.Join(dir, "sine")
	if err := os.MkdirAll(module, 0o755); err != nil {
		t.Fatal(err)
	}
	program := goBlock.FindStringSubmatch(text(t, "README.md"))[1]
	if err := os.WriteFile(filepath.Join(module, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range commands {
		args := strings.Fields(strings.ReplaceAll(line, "../tensorken", clone))
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = module, env
		if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 && strings.Contains(line, " run ") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}
