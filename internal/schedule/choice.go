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

// Choices lists the tiles that can compute a kernel, in the order of their estimated times. The
// choices for a tile differ in the number of parts into which the depth is split: the best number
// first and then, where possible, half and twice as many. Compile takes the very first choice.
// The list is empty if the kernel is not a product, or if workgroups do not compute it by tiles.
func Choices(k *ir.Kernel, t Target) [][]Choice {
	c, err := newChecked(k, t)
	if err != nil || k.Template != ir.Contraction || isEmpty(c.Nest.Kernel) || build.Packed != nil && build.Packed.Takes(c) {
		return nil
	}
	return contraction.Choices(c)
}

// CompileChoice is Compile with one of the kernel's Choices in place of the first one.
func CompileChoice(k *ir.Kernel, t Target, choice Choice) (*shader.Program, error) {
	return compileBy(k, t, func(c *build.Builder) { contraction.CompileBy(c, choice) })
}

// KeyLen is the length of a Key.
const KeyLen = 32

// Key identifies a search for the fastest of a kernel's choices on a GPU. It is a hash of the
// kernel, the target, and the rows of the choices in the table of tiles. The hash is not
// cryptographic, because crypto/sha256 would enlarge programs for browsers.
func Key(k *ir.Kernel, t Target, list [][]Choice) string {
	t.Memory, t.BufferBytes = 0, 0 // they do not affect products
	h := fnv.New128a()
	fmt.Fprintf(h, "%+v\n", t)
	for _, choice := range slices.Concat(list...) {
		fmt.Fprintf(h, "%v %s\n", choice, choice.Row())
	}
	h.Write(k.Append(nil))
	return fmt.Sprintf("%x", h.Sum(nil))
}
