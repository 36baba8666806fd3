package policy

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	exercise = regexp.MustCompile(`(?m)^## (.+)$`)
	block    = regexp.MustCompile("(?ms)^```(go|diff|sh|sh fails|text)\n(.*?)^```$")
)

// TestHacking does the exercises of docs/hacking.md on a copy of the files that they change, by an overlay of
// Go's build.
func TestHacking(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles most packages several times")
	}
	page := text(t, "docs/hacking.md")
	starts := append(exercise.FindAllStringSubmatchIndex(page, -1), []int{len(page), len(page)})
	if len(starts) != 7 {
		t.Fatalf("docs/hacking.md has %d exercises, want 6", len(starts)-1)
	}
	for i, s := range starts[:6] {
		t.Run(page[s[2]:s[3]], func(t *testing.T) {
			e := &hack{T: t, dir: t.TempDir(), replace: map[string]string{}}
			for _, b := range block.FindAllStringSubmatch(page[s[0]:starts[i+1][0]], -1) {
				e.do(b[1], b[2])
			}
		})
	}
}

// A hack is an exercise that is being done.
type hack struct {
	*testing.T
	dir     string
	output  string            // of the last commands
	replace map[string]string // for -overlay: files that changed, and where they are
}

// do does what a block says.
func (h *hack) do(kind, body string) {
	first, rest, _ := strings.Cut(body, "\n")
	switch kind {
	case "go":
		h.write(strings.TrimPrefix(first, "// "), rest)
	case "diff":
		h.patch(strings.TrimPrefix(first, "--- "), rest)
	case "sh", "sh fails":
		h.output = ""
		for command := range strings.Lines(body) {
			h.run(strings.TrimSpace(command), kind == "sh fails")
		}
	case "text":
		out := h.output
		for line := range strings.Lines(body) {
			_, after, found := strings.Cut(out, strings.TrimSpace(line))
			if !found {
				h.Fatalf("no line %q, in its place, in\n%s", line, h.output)
			}
			out = after
		}
	}
}

// read returns a file of the module as the exercise has it by now.
func (h *hack) read(path string) string {
	at, changed := h.replace[h.path(path)]
	if !changed {
		return text(h.T, path)
	}
	b, err := os.ReadFile(at)
	if err != nil {
		h.Fatal(err)
	}
	return string(b)
}

func (h *hack) path(path string) string {
	full, err := filepath.Abs(filepath.Join(root, path))
	if err != nil {
		h.Fatal(err)
	}
	return full
}

func (h *hack) write(path, content string) {
	to := filepath.Join(h.dir, strings.ReplaceAll(path, "/", "-"))
	if err := os.WriteFile(to, []byte(content), 0o644); err != nil {
		h.Fatal(err)
	}
	h.replace[h.path(path)] = to
}

// patch replaces lines, those that begin with a space or -, by those that begin with a space or +.
func (h *hack) patch(path, lines string) {
	var before, after strings.Builder
	for line := range strings.Lines(lines) {
		if line[0] != '+' {
			before.WriteString(line[1:])
		}
		if line[0] != '-' {
			after.WriteString(line[1:])
		}
	}
	content := h.read(path)
	if n := strings.Count(content, before.String()); n != 1 {
		h.Fatalf("%s has %d places for\n%s", path, n, before.String())
	}
	h.write(path, strings.Replace(content, before.String(), after.String(), 1))
}

// run runs a command of Go, which is to fail or not.
func (h *hack) run(command string, fails bool) {
	overlay := filepath.Join(h.dir, "overlay.json")
	b, err := json.Marshal(map[string]any{"Replace": h.replace})
	if err == nil {
		err = os.WriteFile(overlay, b, 0o644)
	}
	if err != nil {
		h.Fatal(err)
	}
	out, err := h.command(overlay, strings.Fields(strings.ReplaceAll(command, "'", "")))
	if h.output += string(out); (err != nil) != fails {
		h.Errorf("%s: error %v\n%s", command, err, out)
	}
}

// command runs go run or go test, with an overlay. A test of a folder that is in the overlay alone runs in another one.
func (h *hack) command(overlay string, args []string) (out []byte, err error) {
	run := func(dir string, args ...string) ([]byte, error) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "TENSORKEN_DEVICE="+cmp.Or(os.Getenv("TENSORKEN_DEVICE"), "cpu"),
			"GOFLAGS="+os.Getenv("GOFLAGS")+" -gcflags=github.com/tensorken/tensorken/...=-l") // inlining takes a third of a compilation
		return cmd.CombinedOutput()
	}
	if args[1] != "test" {
		return run(root, append([]string{"go", args[1], "-overlay", overlay}, args[2:]...)...)
	}
	test := []string{filepath.Join(h.dir, "test.exe")}
	dir := h.dir
	for _, a := range args[2:] {
		switch {
		case strings.HasPrefix(a, "./"):
			if out, err := run(root, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", test[0], a); err != nil {
				return out, err
			}
			if _, err := os.Stat(h.path(a)); err == nil {
				dir = h.path(a)
			}
		case strings.HasPrefix(a, "-"):
			test = append(test, "-test."+a[1:])
		default:
			test = append(test, a)
		}
	}
	if out, err = run(dir, test...); err == nil {
		out = append(out, "ok\n"...)
	}
	return out, err
}
