package schedule

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/contraction"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Choices lists the tiles that can compute a kernel, in the order of their estimated times: each
// with its best split and then, where possible, with half and twice as many parts. Compile takes
// the first of all. The list is empty if the kernel is no product, or one that workgroups do not
// compute by tiles.
func Choices(k *ir.Kernel, t Target) [][]Choice {
	c, err := newChecked(k, t)
	if err != nil || k.Template != ir.Contraction || isEmpty(c.Nest.Kernel) {
		return nil
	}
	return contraction.Choices(c)
}

// CompileChoice is Compile by one of the kernel's Choices.
func CompileChoice(k *ir.Kernel, t Target, choice Choice) (*shader.Program, error) {
	return compileBy(k, t, func(c *build.Builder) { contraction.CompileBy(c, choice) })
}

// KeyLen is the length of a Key.
const KeyLen = 32

// Key identifies a search for the fastest of some choices on a GPU, by the kernel, the target,
// and the rows of the choices in the table of tiles. Its hash is small, because package
// crypto/sha256 would enlarge programs for browsers.
func Key(k *ir.Kernel, t Target, list [][]Choice) string {
	t.Memory = 0 // it does not affect products
	h := fnv.New128a()
	fmt.Fprintf(h, "%+v\n", t)
	for _, c := range slices.Concat(list...) {
		fmt.Fprintf(h, "%v %s\n", c, c.Row())
	}
	h.Write(k.Append(nil))
	return fmt.Sprintf("%x", h.Sum(nil))
}
