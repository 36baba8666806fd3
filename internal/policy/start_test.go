package policy

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startPart is a part of docs/start.md: a block with its language, after the name of its file if it is to be
// saved, or lines of commands.
var startPart = regexp.MustCompile("(?ms)(?:as `([\\w./]+)`(?:\n?[^`\n])*\n\n)?^```(\\w+)\n(.*?)^```$|^((?:    [^\n]*\n)+)")

// TestStart follows docs/start.md in a container: it saves the files, runs the commands in order, and compares what
// they print.
func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the module in another place")
	}
	if err := exec.Command("unshare", "--map-root-user", "--mount", "--net", "--pid", "--fork", "true").Run(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no container: ", err)
		}
		t.Skip("no container: ", err)
	}
	goTool(t, "mod", "download")
	goTool(t, "mod", "tidy", "-diff") // fetches requirements of requirements and of their tests
	dir := t.TempDir()
	publish(t, filepath.Join(dir, "tensorken"))

	script := "echo silent >.curlrc\ngit config --global url.file:///mnt/tensorken.insteadOf https://github.com/tensorken/tensorken\n"
	wants, commands := map[int]string{}, 0
	for _, m := range startPart.FindAllStringSubmatch(text(t, "docs/start.md"), -1) {
		switch file, language, body, lines := m[1], m[2], m[3], m[4]; {
		case lines != "":
			commands++
			lines = strings.Replace(lines, "go run ./serve", "go run ./serve &\nuntil curl -so /dev/null localhost:8080; do sleep 0.1; done", 1)
			script += fmt.Sprintf("exec >/mnt/%d 2>&1\n%s", commands, lines)
		case language == "text":
			wants[commands] = body
		case file != "":
			script += fmt.Sprintf("mkdir -p %s\ncat >%s <<'END'\n%sEND\n", path.Dir(file), file, body)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "run"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	printed := func(i int) string {
		b, _ := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		return string(b)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	began := time.Now()
	if out, err := exec.CommandContext(ctx, filepath.Join(root, ".ci/container"), dir).CombinedOutput(); err != nil {
		last := commands
		for last > 1 && printed(last) == "" {
			last--
		}
		t.Fatalf("%v\n%s%s", err, out, printed(last))
	}
	t.Logf("%d lines of commands in %.0f s", strings.Count(script, "\n    "), time.Since(began).Seconds())
	for i := range commands + 1 {
		if got := printed(i); !shows(wants[i], got) {
			t.Errorf("docs/start.md shows\n%s\nThe commands print\n%s", wants[i], got)
		}
	}
}

// publish makes a repository of the files of this one as they are now, committed or not.
func publish(t *testing.T, dir string) {
	t.Helper()
	work, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	in := []string{"--git-dir=" + filepath.Join(dir, ".git"), "--work-tree=" + work, "-c", "user.name=test", "-c", "user.email=test"}
	for _, args := range [][]string{{"init", "-q", dir}, append(in, "add", "-A", work), append(in, "commit", "-qm", "test")} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

var (
	timing  = regexp.MustCompile(`\d+ samples/s .*|in [\d.]+ s`)
	decimal = regexp.MustCompile(`\d+\\\.\d+`) // in a quoted text
)

// shows reports whether a page's output agrees with the real one: "…" stands for anything, times differ, and the
// last digits of numbers differ from processor to processor.
func shows(page, got string) bool {
	page = regexp.QuoteMeta(strings.TrimSpace(timing.ReplaceAllString(page, "…")))
	pattern := strings.ReplaceAll(decimal.ReplaceAllString(page, `(\d+\.\d+)`), "…", "(?s:.*)")
	m := regexp.MustCompile(pattern).FindStringSubmatch(got)
	if m == nil {
		return false
	}
	for i, text := range decimal.FindAllString(page, -1) {
		want, _ := strconv.ParseFloat(strings.Replace(text, `\`, "", 1), 64)
		if x, err := strconv.ParseFloat(m[i+1], 64); err != nil || math.Abs(x-want) > 0.03*max(1, want) {
			return false
		}
	}
	return true
}
