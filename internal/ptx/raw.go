package ptx

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Raw returns the module of a user's kernel for a pass: its text, whose entry has the parameters that
// a launch gives. A driver does not check them.
func Raw(k *ir.RawKernel, p *shader.Pass) (string, error) {
	want := strings.Repeat(".u64 ", len(p.Buffers)) + strings.Repeat(".u32 ", len(p.Params))
	_, rest, _ := strings.Cut(k.Text, ".visible .entry "+Entry+"(")
	list, _, _ := strings.Cut(rest, ")")
	got := ""
	for param := range strings.SplitSeq(list, ",") {
		if f := strings.Fields(param); len(f) > 2 && f[0] == ".param" {
			got += f[1] + " "
		}
	}
	if got != want {
		return "", fmt.Errorf("%w: the PTX must have .visible .entry %s( with parameters %sand has %s", driver.ErrSource, Entry, want, strings.TrimSpace(got))
	}
	return k.Text, nil
}
