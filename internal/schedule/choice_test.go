package schedule

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Each choice gives the product, and Compile takes the first. With -short the first is computed.
func TestChoices(t *testing.T) {
	rounded := hopper
	rounded.TF32 = true
	float64s := hopper
	float64s.Wide = true
	for _, c := range []struct {
		name    string
		target  Target
		product matrixProduct
		tiles   int
	}{
		{"threads", big, matrixProduct{batches: 1, m: 70, n: 44, depth: 40}, 7},
		{"threads that split", big, matrixProduct{batches: 2, m: 33, n: 64, depth: 500}, 7},
		{"little memory", tight, matrixProduct{batches: 1, m: 20, n: 33, depth: 10}, 0},
		{"matrices", nvidia, matrixProduct{batches: 1, m: 40, n: 70, depth: 600, leftFlipped: true}, 5},
		{"shared matrices", hopper, matrixProduct{batches: 1, m: 64, n: 132, depth: 90, rightFlipped: true}, 9},
		{"TF32", rounded, matrixProduct{batches: 1, m: 130, n: 40, depth: 300}, 7},
		{"float64", float64s, matrixProduct{batches: 2, m: 70, n: 140, depth: 90, leftFlipped: true, wide: true}, 5},
		{"few rows", big, matrixProduct{batches: 1, m: 4, n: 44, depth: 40}, 0},
		{"software", software, matrixProduct{batches: 1, m: 70, n: 44, depth: 40}, 0},
		{"nothing", big, matrixProduct{batches: 0, m: 70, n: 44, depth: 40}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := matmul(c.product)
			list := Choices(k, c.target)
			if len(list) != c.tiles {
				t.Fatalf("choices %v, want %d tiles", list, c.tiles)
			}
			for i, choice := range slices.Concat(list...) {
				p, err := CompileChoice(k, c.target, choice)
				if err == nil {
					err = simt.Verify(p)
				}
				if err == nil {
					err = scheduletest.Fits(p, c.target)
				}
				if err != nil {
					t.Fatalf("%v: %v", choice, err)
				}
				if first := reflect.DeepEqual(p, compile(t, k, c.target)); first != (i == 0) {
					t.Errorf("number %d, %v, is Compile's: %v", i, choice, first)
				}
				if testing.Short() && i > 0 {
					continue
				}
				if err := c.product.check(p, 1, 0); err != nil {
					t.Errorf("%v: %v", choice, err)
				}
			}
			for _, ways := range list {
				if o := ways[0]; len(ways) == 1 && c.product.depth > o.Layout.Depth() {
					t.Errorf("%v has no other splits", o)
				}
			}
		})
	}
}

// Choices of a kernel have different names, and their key changes with all that decides which is
// the fastest.
func TestChoiceNames(t *testing.T) {
	rounded := hopper
	rounded.TF32 = true
	keys, cases := map[string]bool{}, 0
	for _, k := range []*ir.Kernel{
		dense(1, 512, 512, 512, f32, false), dense(1, 512, 512, 512, ir.BFloat16, true), dense(1, 512, 512, 512, ir.Float16, true),
		bytesProduct(512, 512, 512, ir.Int8, i32, false, true), convolve(8, 16, 28, 28, 32),
	} {
		for _, target := range []Target{big, wide, nvidia, hopper, rounded} {
			list := Choices(k, target)
			var names []string
			all := slices.Concat(list...)
			for _, c := range all {
				names = append(names, c.String())
			}
			if slices.Sort(names); len(names) == 0 || len(slices.Compact(names)) < len(all) {
				t.Errorf("%v\non %+v: names %v", k, target, names)
			}
			faster, unit := list[0][0], list[0][0]
			faster.Layout.Rate++
			u := *unit.Layout.Unit
			u.Buffers++
			unit.Layout.Unit = &u
			for _, list := range [][][]Choice{list, list[1:], {{faster}}, {{unit}}, {list[0][:1]}} {
				keys[Key(k, target, list)] = true
				cases++
			}
		}
	}
	if len(keys) != cases {
		t.Errorf("%d keys, want %d", len(keys), cases)
	}
}
