package nn

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/tensorken/tensorken/tree"
)

// Summary is a table of the tensors in a model: name, type and shape, number
// of elements; the last line has the total.
func Summary(model any) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	total := 0
	for name, t := range tree.All(model) {
		total += t.Len()
		fmt.Fprintf(w, "%s\t%v %v\t%d\n", name, t.DType(), t.Shape(), t.Len())
	}
	fmt.Fprintf(w, "total\t\t%d\n", total)
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
