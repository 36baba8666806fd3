package pagetest

import (
	"testing"

	"github.com/tensorken/tensorken/examples/web/internal/page"
)

// Messages go to the program and come back; others, by name, are skipped.
func TestVisit(t *testing.T) {
	v := Start(t, func(p *page.Port) {
		page.On(p, "double", func(n int) error { p.Send("doubled", 2*n); return nil })
		p.Serve(nil)
	})
	v.Send("double", 21)
	if got := Wait[int](v, "doubled"); got != 42 {
		t.Errorf("twice 21 is %d", got)
	}
}
