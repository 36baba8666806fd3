package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// THIRD_PARTY.md names the modules that a binary of the command contains on any system, each with
// the texts of its licences, which binaries must carry.
func TestThirdParty(t *testing.T) {
	doc := text(t, "THIRD_PARTY.md")
	words := strings.Join(strings.Fields(doc), " ")
	dirs := map[string]string{}
	for _, goos := range []string{"linux", "windows", "darwin"} {
		cmd := exec.Command("go", "list", "-e", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}|{{.Dir}}{{end}}{{end}}", "./cmd/tensorken")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.FieldsSeq(string(out)) {
			path, dir, _ := strings.Cut(line, "|")
			dirs[path] = dir
		}
	}
	if len(dirs) < 5 {
		t.Errorf("the command contains the modules %q, fewer than it imports", sorted(dirs))
	}
	var named []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| .+ \\|$").FindAllStringSubmatch(doc, -1) {
		named = append(named, m[1])
	}
	if want := sorted(dirs); !slices.Equal(named, want) {
		t.Errorf("THIRD_PARTY.md names %q, want %q", named, want)
	}
	for _, path := range sorted(dirs) {
		if dirs[path] == "" {
			continue // of another system, and not downloaded
		}
		entries, err := os.ReadDir(dirs[path])
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, e := range entries {
			upper := strings.ToUpper(e.Name())
			if e.IsDir() || !strings.HasPrefix(upper, "LICEN") && !strings.HasPrefix(upper, "NOTICE") && !strings.HasPrefix(upper, "COPYING") {
				continue
			}
			found++
			licence, err := os.ReadFile(filepath.Join(dirs[path], e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(words, strings.Join(strings.Fields(string(licence)), " ")) {
				t.Errorf("THIRD_PARTY.md lacks the text of %s of %s", e.Name(), path)
			}
		}
		if found == 0 {
			t.Errorf("%s has no licence", path)
		}
	}
}
