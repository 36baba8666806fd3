package schedule

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Choice is a way to compute a product: a tile, and how the depth is split.
type Choice struct{ option[tile] }

// String formats a choice as the rows, columns and words of the depth of its tile, the squares
// of a unit in it, and the parts of the depth: 128x128x8:2x2/1. The choices of a kernel have
// different names.
func (c Choice) String() string {
	t := c.layout
	return fmt.Sprintf("%dx%dx%d:%dx%d/%d", t.m, t.n, t.k, t.high, t.wide, c.splits)
}

// row is that of a choice in the table of tiles.
func (c Choice) row() string {
	tile, unit := c.layout, *c.layout.unit
	tile.unit, unit.methods = nil, unitMethods{} // addresses differ from program to program
	return fmt.Sprint(tile, " ", unit)
}

// Choices lists the tiles that can compute a kernel, in the order of their estimated times: each
// with its best split, which Compile takes of the first, and then with half and twice as many
// parts, if it can have them. There are none if the kernel is no product, or one that workgroups
// do not compute by tiles.
func Choices(k *ir.Kernel, t Target) [][]Choice {
	c, err := newChecked(k, t)
	if err != nil || k.Template != ir.Contraction || isEmpty(c.k.Kernel) {
		return nil
	}
	return choicesOf(c)
}

func choicesOf(c *compiler) (list [][]Choice) {
	x := newContraction(c)
	if !c.t.traits().concurrent || x.skinny() {
		return nil
	}
	for _, o := range x.tileOptions() {
		list = append(list, x.resplit(o))
	}
	return list
}

// resplit returns an option and those of half and twice as many splits.
func (x *contraction) resplit(o option[tile]) []Choice {
	list := []Choice{{o}}
	steps := ir.CeilDiv(x.depth, o.layout.depth())
	for _, n := range []int{o.splits / 2, 2 * o.splits} {
		if n < 1 || n > steps {
			continue
		}
		o.perSplit = ir.CeilDiv(steps, n)
		o.splits = ir.CeilDiv(steps, o.perSplit)
		if !slices.ContainsFunc(list, func(c Choice) bool { return c.splits == o.splits }) {
			list = append(list, Choice{o})
		}
	}
	return list
}

// CompileChoice is Compile by one of the kernel's Choices.
func CompileChoice(k *ir.Kernel, t Target, choice Choice) (*shader.Program, error) {
	return compileBy(k, t, func(c *compiler) { contractBy(c, choice) })
}

// KeyLen is the length of a Key.
const KeyLen = 32

// Key identifies what decides which of some choices of a kernel is the fastest on a GPU: the
// kernel, the target, and the rows of the choices in the table of tiles. It is a hash that adds
// nothing to programs for browsers, where package crypto/sha256 takes 60 kB.
func Key(k *ir.Kernel, t Target, list [][]Choice) string {
	t.Memory = 0 // of which products take no account
	h := fnv.New128a()
	fmt.Fprintf(h, "%+v\n", t)
	for _, c := range slices.Concat(list...) {
		fmt.Fprintf(h, "%v %s\n", c, c.row())
	}
	h.Write(k.Append(nil))
	return fmt.Sprintf("%x", h.Sum(nil))
}
