package policy

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// decides lists the folders of packages that decide how work is done. Their thresholds are in the table below.
var decides = []string{"internal/kernelize", "internal/compile", "internal/cpu", "internal/schedule", "internal/loopnest", "internal/exec", "internal/memory"}

// thresholds has every number, other than 0, 1 and 2, with which those packages compare, or which they take
// the least or greatest of, by the package and the constant or the function: with the reason why it is not an
// estimate in seconds by the figures of a machine (ir.Machine, the tables of schedule/build and
// schedule/tiles, cpu/vector.Tuning).
var thresholds = []struct{ reason, names string }{
	{"hardware: lines of caches, vectors, registers, shuffles, tiles of matrix instructions, limits of an interface", `
		cpu.maxThreads cpu.room cpu.wrapAlign cpu/product.pieceBytes cpu/sliding.mostResults cpu/vector.CacheLine cpu/vector.Grow cpu/vector.rowsAhead
		kernelize/images.readAcross loopnest.SkinnyRows memory.Request
		schedule.maxGroupsYZ schedule/attention.attentionRegisters schedule/attention.choose
		schedule/attention.warps schedule/attention.locate schedule/attention.sharedTile schedule/build.Scratch schedule/build.Subgroup schedule/build.Wrap
		schedule/build.MaxParams schedule/contraction.skinnyDepth schedule/contraction.square schedule/tiles.PlaceThreads schedule/tiles.eight schedule/tiles.heldElements schedule/tiles.lineAt schedule/tiles.regular schedule/tiles.rows
		schedule/pointwise.transposedAxis
		schedule/build.mostShared schedule/reduce.sector schedule/reduce.line schedule/reduce.batch schedule/reduce.registers`},
	{"types: bytes of an element, bits of a number", `
		compile.SetOf cpu/vector.singleOps memory.markFreed memory.markShared memory.markViewed schedule.KeyLen
		schedule/attention.infinity schedule/attention.least schedule/build.validity schedule/pointwise.itemsAhead schedule/routines.key
		schedule/build.Decode schedule/build.part schedule/packed.aligned schedule/packed.bytes schedule/packed.digitBytes
		schedule/packed.even schedule/packed.greatest schedule/packed.least schedule/packed.neighbours schedule/packed.portions
		schedule/packed.magic schedule/packed.shifted schedule/packed.signedBytes schedule/packed.usesDigits
		loopnest.MaxNumber`},
	{"the form of a program: another number is another program", `
		loopnest.Across loopnest.FewRows loopnest.Fits loopnest.LeastColumns loopnest.LeastRows loopnest.Step loopnest.mostWidths
		schedule/attention.depthStep schedule/contraction.gemvOptions schedule/contraction.maxRows
		schedule/contraction.multiplyDepth schedule/contraction.naiveCols schedule/contraction.naiveRows schedule/contraction.skinnyAhead
		schedule/contraction.skinnyWarps
		schedule/routines.ahead schedule/routines.combineVotes schedule/routines.nibbles schedule/routines.radixBits
		schedule/routines.radixItems schedule/routines.radixThreads schedule/routines.run schedule/routines.scanLanes
		schedule/routines.selectAhead schedule/routines.tallyWords schedule/routines.voteThreads schedule/routines.votes
		schedule/packed.choose schedule/packed.heldWords schedule/packed.maxColumns schedule/packed.maxRows schedule/packed.maxSums
		schedule/packed.segment schedule/product.LoadsAhead schedule/attention.fewThreads schedule/attention.partsAhead
		kernelize.maxMatrices kernelize.maxCuts kernelize/norms.sharedRows schedule/reduce.streamed schedule/reduce.sweepChunk schedule/tiles.band schedule/tiles.mostTaps
		compile/blockwise.maxDepth cpu/product.decodedColumns cpu/product.dotColumns cpu/product.tapSide`},
	{"the order of additions, which no machine may choose: bits of results depend on it, not on cores", `
		cpu.cut cpu.fits cpu.newBlock cpu.newScan cpu.newStream cpu.scatterParts
		cpu/product.newCutting cpu/product.dotPart cpu/product.fewDepth cpu/sliding.dotPart cpu/sliding.mostWindows compile/blockwise.minParts schedule/contraction.chunk
		schedule/attention.mostParts schedule/tiles.Options`},
	{"a bound on the compiler's work, on a text, or on what a process keeps or waits for", `
		compile.maxOps compile.operations cpu/vector.keptTemps cpu/vector.spinTime cpu/vector.spinPerHelper cpu/vector.yieldTime exec.maxCalls exec.maxPlans
		cpu/product.mostRounds exec.maxPrograms exec.peakRuns exec.peakTime kernelize.maxMerged kernelize.maxScalars kernelize/regions.maxScores kernelize.maxSize
		kernelize.place memory.ballastSize memory.setBallast memory.flushDelay memory.large memory.largestStep memory.leastBuffers
		schedule/build.share schedule/build.shareOfUnknown memory.leastBytes memory.manyRuns memory.maxCollected memory.maxTries memory.sizeClass cpu.copyBytes
		cpu.longParts cpu.longRow schedule/reduce.maxStatements`},
	{"a share: parts are small beside the whole, or even", `
		compile.AssignMemory compile.little compile/blockwise.minMatrix compile/blockwise.minUnits cpu.groups cpu/vector.Even
		cpu/vector.Grain cpu/vector.LongBlock cpu/vector.transposed cpu.columnMajor cpu/product.narrowBand cpu/product.short
		cpu/sliding.leastReuse cpu/product.minReuse cpu/product.newEpilogue cpu/product.NewDots
		kernelize.prologue kernelize.recomputes kernelize.recomputesTooMuch kernelize.visit kernelize/masks.mostRows kernelize.leastRows
		schedule/build.LoopLimits schedule/build.Share schedule/reduce.choose`},
}

func TestThresholds(t *testing.T) {
	unused := map[string]string{}
	for _, group := range thresholds {
		for _, name := range strings.Fields(group.names) {
			if unused[name] != "" {
				t.Errorf("the table of thresholds has %s twice", name)
			}
			unused[name] = group.reason
		}
	}
	known := func(name string) bool { _, ok := unused[name]; return ok }
	used := map[string]bool{}
	for _, f := range sources(t) {
		if f.isTest() || !slices.ContainsFunc(decides, func(dir string) bool { return f.dir == dir || strings.HasPrefix(f.dir, dir+"/") }) {
			continue
		}
		eachThreshold(f.ast, func(name string, at ast.Node) {
			name = strings.TrimPrefix(f.dir, "internal/") + "." + name
			used[name] = true
			if !known(name) {
				t.Errorf("%s: %s has a number that decides: let ir.Machine estimate seconds, or add it to the table of thresholds, with the reason", fset.Position(at.Pos()), name)
			}
		})
	}
	for _, name := range sorted(unused) {
		if !used[name] {
			t.Errorf("the table of thresholds needs no entry for %s", name)
		}
	}
}

// eachThreshold yields each number of a file that is compared, is one of which the least or greatest is taken, or is a
// constant, with the name of that constant or of the function.
func eachThreshold(f *ast.File, yield func(name string, at ast.Node)) {
	for _, d := range f.Decls {
		var name string
		if fn, ok := d.(*ast.FuncDecl); ok {
			name = fn.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.BinaryExpr:
				if slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, x.Op) && hasNumber(x) {
					yield(name, x)
					return false
				}
			case *ast.CallExpr:
				if id, ok := x.Fun.(*ast.Ident); ok && (id.Name == "min" || id.Name == "max") && hasNumber(x) {
					yield(name, x)
					return false
				}
			case *ast.GenDecl:
				for _, spec := range x.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && x.Tok == token.CONST {
						for i := range v.Values {
							if hasNumber(v.Values[i]) {
								yield(v.Names[i].Name, v)
							}
						}
					}
				}
				return x.Tok != token.CONST
			}
			return true
		})
	}
}

// hasNumber reports whether an expression has a number other than 0, 1 and 2.
func hasNumber(x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && (l.Kind == token.INT || l.Kind == token.FLOAT) && !slices.Contains([]string{"0", "1", "2"}, l.Value) {
			found = true
		}
		_, isFunc := n.(*ast.FuncLit)
		return !isFunc
	})
	return found
}
