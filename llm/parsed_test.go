package llm

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/internal/jinja"
)

// Templates that clients choose are not kept without end.
func TestParsedTemplates(t *testing.T) {
	m := &Model{parsed: map[string]*jinja.Template{}}
	for i := range 5 * maxParsed {
		text := fmt.Sprint(i % (2 * maxParsed))
		p, err := m.template(&ChatOptions{Template: text})
		if again, _ := m.template(&ChatOptions{Template: text}); err != nil || p == nil || again != p {
			t.Fatalf("template %s is parsed again, or %v", text, err)
		}
		if len(m.parsed) > maxParsed {
			t.Fatalf("%d templates are kept, want at most %d", len(m.parsed), maxParsed)
		}
	}
}
