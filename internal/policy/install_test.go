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

// TestInstall makes modules as a user does, by the lines of docs/start.md and of README.md, with a
// home folder and a module cache that have nothing yet.
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
	for page, what := range map[string][]string{"docs/start.md": {"train", "serve"}, "README.md": {"sine"}} {
		edit := editCommand.FindStringSubmatch(text(t, page))
		if edit == nil {
			t.Errorf("%s has no line with go mod edit", page)
			continue
		}
		module := filepath.Join(dir, what[0])
		run := func(args ...string) {
			t.Helper()
			cmd := exec.Command("go", args...)
			cmd.Dir, cmd.Env = module, env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: go %s: %v\n%s", page, strings.Join(args, " "), err, out)
			}
		}
		blocks := goBlock.FindAllStringSubmatch(text(t, page), -1)
		for i, name := range what {
			path := filepath.Join(module, name, "main.go")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(blocks[i][1]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		run("mod", "init", "example")
		run(strings.Fields(strings.ReplaceAll(edit[1], "../tensorken", clone))...)
		run("mod", "tidy")
		run("list", "-deps", "./...")
		if strings.Contains(edit[1], "-tool") {
			run("list", "-deps", "tool")
		}
	}
}
