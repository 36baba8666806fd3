package policy

import (
	"regexp"
	"strings"
	"testing"
)

// Every environment variable stands in docs/devices.md and in the command's help, but for those of tests.
func TestEnvironment(t *testing.T) {
	variable := regexp.MustCompile(`"(TENSORKEN_[A-Z_]+)"`)
	for _, doc := range []string{"docs/devices.md", "cmd/tensorken/environment.go"} {
		list := text(t, doc)
		for _, f := range sources(t) {
			for _, m := range variable.FindAllStringSubmatch(f.src, -1) {
				if !f.isTest() && !strings.HasSuffix(f.dir, "test") && !strings.Contains(list, m[1]) {
					t.Errorf("%s lacks %s, which %s reads", doc, m[1], f.name)
				}
			}
		}
	}
}
