package ops

import "testing"

// An operator has one row for a version.
func TestTable(t *testing.T) {
	type version struct {
		domain, name string
		number       int
	}
	seen := map[version]bool{}
	for _, r := range All() {
		until := r.Until
		if until == 0 {
			until = Newest
		}
		if r.F == nil || r.Name == "" || until < r.Since {
			t.Errorf("%s.%s has no function, or versions from %d to %d", r.Domain, r.Name, r.Since, r.Until)
		}
		for n := max(r.Since, Oldest); n <= until; n++ {
			v := version{r.Domain, r.Name, n}
			if seen[v] {
				t.Errorf("%s.%s has two rows for version %d", r.Domain, r.Name, n)
				break
			}
			seen[v] = true
		}
	}
}
