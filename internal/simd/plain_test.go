package simd

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/ir"
)

const plainHead = `# Routines without assembly

The CPU's routines that are written in Go at a level of instructions, which TENSORKEN_SIMD
names; all others are in assembly. Level avx512vnni has those of avx512, another product of int8, and
products of rows in fixed point by quantised weights; level avx512bf16 has also products of bfloat16.
"Across" is a reduction of columns. At every level scatters and sorts are written in Go, scans are made of
the routines below, and all else in float16 and bfloat16 is computed in float32. Of the formats of
quantised weights, those of internal/simd/_asm/blocks.go are decoded by assembly on amd64.

` + "`go test ./internal/simd -run Plain`" + ` fails if the page differs; with -update it rewrites the
lines of one level.

| level | routines | types |
|---|---|---|
`

// TestPlain compares the routines that a level leaves to Go with those that docs/assembly.md has.
func TestPlain(t *testing.T) {
	if Level == "go" {
		t.Skip("all routines are in Go")
	}
	const page = "../../docs/assembly.md"
	b, err := os.ReadFile(page)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	level := strings.TrimSuffix(Level, "vnni")
	text := plainHead
	for _, name := range []string{"avx512", "avx2", "neon"} {
		if name == level {
			text += plainLines(level)
			continue
		}
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "| "+name+" |") {
				text += line
			}
		}
	}
	goldentext.Check(t, page, text)
}

// plainLines returns a line of the page for each list of types, with the routines that are
// in Go for these.
func plainLines(level string) (text string) {
	var types []string
	names := map[string][]string{}
	for _, r := range plainRoutines() {
		if !slices.Contains(types, r.types) {
			types = append(types, r.types)
		}
		names[r.types] = append(names[r.types], r.name)
	}
	for _, list := range types {
		text += fmt.Sprintf("| %s | %s | %s |\n", level, strings.Join(names[list], ", "), list)
	}
	return text
}

// A plainRoutine is a routine that is in Go for some types.
type plainRoutine struct{ name, types string }

// plainRoutines pairs the tables' routines with the columns'.
func plainRoutines() (list []plainRoutine) {
	add := func(name string, routines func(d ir.DType) (now, plain any)) {
		var in []string
		all := true
		for d := range ir.DType(Types) {
			now, plain := routines(d)
			if reflect.ValueOf(plain).IsNil() {
				continue
			}
			if reflect.ValueOf(now).Pointer() == reflect.ValueOf(plain).Pointer() {
				in = append(in, d.String())
			} else {
				all = false
			}
		}
		switch {
		case in == nil:
		case all:
			list = append(list, plainRoutine{name, "all"})
		default:
			list = append(list, plainRoutine{name, strings.Join(in, " ")})
		}
	}
	unaries := tableByOp(func(c *column) map[ir.Op]Unary { return c.unaries })
	binaries := tableByOp(func(c *column) map[ir.Op]Modes { return c.binaries })
	reductions := tableByOp(func(c *column) map[ir.Op]Reduction { return c.reductions })
	for op := range ir.Op(ir.Ops) {
		add(op.String(), func(d ir.DType) (now, plain any) { return Unaries[op][d], unaries[op][d] })
		add(op.String(), func(d ir.DType) (now, plain any) { return Binaries[op][d].VV, binaries[op][d].VV })
		add(op.String(), func(d ir.DType) (now, plain any) { return Reductions[op][d].Along, reductions[op][d].Along })
		add(op.String()+" across", func(d ir.DType) (now, plain any) { return Reductions[op][d].Across, reductions[op][d].Across })
	}
	add("Sum in int64", func(d ir.DType) (now, plain any) { return WideSums[d].Along, wideSums()[d].Along })
	add("Where", func(d ir.DType) (now, plain any) { return Wheres[d].VV, columnOf(d).where.VV })
	add("ArgMax", func(d ir.DType) (now, plain any) { return ArgMaxes[d].Along, columnOf(d).argMax.Along })
	add("ArgMax across", func(d ir.DType) (now, plain any) { return ArgMaxes[d].Across, columnOf(d).argMax.Across })
	add("dot products", func(d ir.DType) (now, plain any) { return Dots[d].Along, columnOf(d).dot.Along })
	add("matrix products", func(d ir.DType) (now, plain any) { return Products[d].Tile, columnOf(d).product.Tile })
	add("products by rows along the depth", func(d ir.DType) (now, plain any) { return DotTiles[d].Dots, columnOf(d).dotTile.Dots })
	none := Unary(nil)
	add("Threefry", func(d ir.DType) (now, plain any) {
		if d == ir.Uint32 {
			return Threefry, Quaternary(threefry)
		}
		return none, none
	})
	casts := makeCasts()
	for to := range ir.DType(Types) {
		add("Cast to "+to.String(), func(d ir.DType) (now, plain any) {
			if d == to {
				return none, none
			}
			return Casts[d][to], casts[d][to]
		})
	}
	return list
}

// columnOf returns the routines in Go of a type.
func columnOf(d ir.DType) column {
	i := slices.IndexFunc(columns, func(c column) bool { return c.dtype == d })
	if i < 0 {
		return column{}
	}
	return columns[i]
}
