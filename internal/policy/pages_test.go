package policy

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamplesNamed fails for an example that the page of examples lacks.
func TestExamplesNamed(t *testing.T) {
	const index = "examples/README.md"
	rows := text(t, index)
	for _, dir := range sorted(packages(t)) {
		name, ok := strings.CutPrefix(dir, "examples/")
		if ok && !strings.Contains(name, "/") && !strings.Contains(rows, "["+name+"]("+name) {
			t.Errorf("%s has no row for %s", index, name)
		}
	}
}

var (
	pageLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	codeSpan = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinks fails for a link or picture of a page that leads nowhere, and for one to a heading that
// the other page lacks.
func TestLinks(t *testing.T) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "bench/*/*.md", "examples/*.md", "examples/*/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(pages) == 0 {
			t.Errorf("%s: %v, %d pages", pattern, err, len(pages))
		}
		for _, page := range pages {
			b, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range pageLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(string(b), ""), -1) {
				target, fragment, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, "://") {
					continue
				}
				to := page
				if target != "" {
					to = filepath.Join(filepath.Dir(page), filepath.FromSlash(path.Clean(target)))
				}
				if b, err := os.ReadFile(to); fragment != "" && !slugs(string(b))[fragment] {
					t.Errorf("%s links to %s: no such heading, %v", page, m[1], err)
				} else if _, err := os.Stat(to); err != nil {
					t.Errorf("%s links to %s: %v", page, m[1], err)
				}
			}
		}
	}
}

// TestPageLengths fails for a page that has become longer than a reader's patience.
func TestPageLengths(t *testing.T) {
	for page, most := range map[string]int{
		"README.md": 200, "CHANGELOG.md": 80, "docs/contract.md": 300, "docs/architecture.md": 250,
	} {
		if n := strings.Count(text(t, page), "\n"); n > most {
			t.Errorf("%s has %d lines, want at most %d: move a part to docs/notes or to a page of its own", page, n, most)
		}
	}
}

// slugs returns the anchors of a page's headings.
func slugs(page string) map[string]bool {
	set := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		set[strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return set
}
