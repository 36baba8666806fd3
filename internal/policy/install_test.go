package policy

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var getCommand = regexp.MustCompile(`(?m)^    go (get .*)$`)

// TestInstall installs the module as a user does: from a proxy, with the command of
// docs/start.md and with that of README.md, into modules that have nothing yet.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("it unpacks a module cache")
	}
	dir := t.TempDir()
	publish(t, filepath.Join(dir, "proxy"))
	goTool(t, "mod", "download")
	goTool(t, "mod", "graph") // fetches requirements of requirements, which builds of this module leave out
	env := append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(filepath.Join(dir, "proxy"))+",file://"+filepath.ToSlash(filepath.Join(strings.TrimSpace(goTool(t, "env", "GOMODCACHE")), "cache", "download")),
		"GOMODCACHE="+filepath.Join(dir, "cache"), "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOWORK=off")
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = filepath.Join(dir, name), env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: go %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	write := func(name, file, source string) {
		path := filepath.Join(dir, name, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	page := text(t, "docs/start.md")
	get := getCommand.FindStringSubmatch(page)
	if get == nil {
		t.Fatal("docs/start.md has no line with go get")
	}
	blocks := goBlock.FindAllStringSubmatch(page, -1)
	write("digits", "train/main.go", blocks[0][1])
	write("digits", "serve/main.go", blocks[1][1])
	run("digits", "mod", "init", "digits")
	run("digits", strings.Fields(get[1])...)
	run("digits", "list", "-deps", "./...", "github.com/tensorken/tensorken/cmd/tensorken")

	readme := text(t, "README.md")
	if !strings.Contains(readme, "`go mod tidy`") {
		t.Error("README.md does not say `go mod tidy`")
	}
	write("sine", "main.go", goBlock.FindStringSubmatch(readme)[1])
	run("sine", "mod", "init", "sine")
	run("sine", "mod", "tidy")
	run("sine", "list", "-deps", ".")
}

// publish makes a module proxy in a folder, which has version v0.1.0 of this tree.
func publish(t *testing.T, dir string) {
	root := filepath.Join("..", "..")
	dir = filepath.Join(dir, "github.com", "tensorken", "tensorken", "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"list": "v0.1.0\n", "v0.1.0.info": `{"Version":"v0.1.0"}`, "v0.1.0.mod": text(t, "go.mod"),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(dir, "v0.1.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (nested == nil || strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		w, err := z.Create("github.com/tensorken/tensorken@v0.1.0/" + filepath.ToSlash(name))
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	})
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
