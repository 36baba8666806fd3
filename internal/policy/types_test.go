package policy

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// typeLists has the sentences of pages that list element types, and which types those are.
var typeLists = []struct {
	page     string
	sentence *regexp.Regexp // its group is the list
	has      func(d ir.DType) bool
}{
	{"docs/contract.md", regexp.MustCompile(`The element types are ([^.]*)\.`), func(ir.DType) bool { return true }},
	{"docs/devices.md", regexp.MustCompile(`By WebGPU a GPU has the types ([^.]*)\.`), onGPU},
}

// onGPU reports whether WebGPU has a type.
func onGPU(d ir.DType) bool { return d != ir.Float64 }

var typeName = regexp.MustCompile(`[a-z]+\d*`)

// TestTypesListed fails for a list of element types that lacks one, or has one that there is
// not.
func TestTypesListed(t *testing.T) {
	exported := exportedNames(t)
	for _, d := range ir.DTypes {
		known := func(name string) bool { return exported[name] && strings.EqualFold(name, "tensor."+d.String()) }
		if !slices.ContainsFunc(sorted(exported), known) {
			t.Errorf("package tensor has no constant for %v", d)
		}
	}
	for _, l := range typeLists {
		m := l.sentence.FindStringSubmatch(text(t, l.page))
		if m == nil {
			t.Errorf("%s has no list of types after %v", l.page, l.sentence)
			continue
		}
		var got, want []string
		for _, name := range typeName.FindAllString(m[1], -1) {
			if name != "and" {
				got = append(got, name)
			}
		}
		for _, d := range ir.DTypes {
			if l.has(d) {
				want = append(want, d.String())
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s lists the types %v, want %v", l.page, got, want)
		}
	}
}
