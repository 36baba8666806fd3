package nn

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/tensorken/tensorken/tree"
)

// Summary returns a table of a model's tensors: name, type, shape and number of elements;
// the last line has the total. For a model without tensors it returns "no tensors".
// [SummaryOf] also has the operations for an input.
func Summary(model any) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	count, total := 0, 0
	for name, t := range tree.All(model) {
		count++
		total += t.Len()
		fmt.Fprintf(w, "%s\t%v %v\t%d\n", name, t.DType(), t.Shape(), t.Len())
	}
	if count == 0 {
		return "no tensors"
	}
	fmt.Fprintf(w, "total\t\t%d\n", total)
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
