package policy

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var pageLink = regexp.MustCompile(`\]\(([^()#\s]+)\)`)

// TestExamplesNamed fails for an example that the page of examples lacks, and for a link or
// picture of a page of examples that leads nowhere.
func TestExamplesNamed(t *testing.T) {
	const index = "examples/README.md"
	rows := text(t, index)
	for _, dir := range sorted(packages(t)) {
		name, ok := strings.CutPrefix(dir, "examples/")
		if ok && !strings.Contains(name, "/") && !strings.Contains(rows, "["+name+"]("+name) {
			t.Errorf("%s has no row for %s", index, name)
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "examples/*/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, page := range pages {
		if pages[i], err = filepath.Rel(root, page); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range append(pages, index) {
		page = filepath.ToSlash(page)
		for _, m := range pageLink.FindAllStringSubmatch(text(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, path.Join(path.Dir(page), m[1]))); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}
