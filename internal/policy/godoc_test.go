package policy

import (
	"cmp"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostUsed is the number of functions of each public package that need an example: those
// that the module's programs and tests call most.
const mostUsed = 20

// withoutExample lists the types and functions that need no example, by package and reason.
var withoutExample = map[string]map[string]string{
	"driver/drivertest": {
		"a test calls it: the package comment shows how": "Owned Random Test",
		"it spares kernels in a long test of a compiler": "GPU LoadProofs Proofs Proving",
	},
	"ir": {
		"a part of a Loop, which the compiler makes":    "Clear LoopLimits Stage Temp",
		"a device asks for it when it compiles kernels": "IndexDomain RowLen ScatterStart",
	},
	"models": {
		"a part of a model, which Load makes": `Attention BERTClassifier BERTLayer BERTOutput BERTTokenHead BERTTransform CLIPEncoder
			CLIPLayer Conv1D Expert GPT2Attention GPT2Block GatedMLP LlamaLayer OutAttention RMSNorm ResNetConv ResNetHead ResNetLayer
			ResNetStage SparseMLP T5Attention T5Block T5CrossAttention T5DecoderBlock T5DecoderStack T5FeedForward ViTLayer WhisperLayer`,
	},
	"plot": {"it displays in a notebook": "Show Watch"},
}

// reasonFor returns why a name needs no example, or "".
func reasonFor(dir, name string) string {
	for reason, names := range withoutExample[dir] {
		if slices.Contains(strings.Fields(names), name) {
			return reason
		}
	}
	return ""
}

// TestGoDocExamples fails for an exported type of a public package, and for one of the most
// used functions, that no Example function of the package's tests names.
func TestGoDocExamples(t *testing.T) {
	shown, uses := map[string]map[string]bool{}, map[string]int{}
	for _, f := range sources(t) {
		if f.isTest() {
			addShown(shown, f)
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok {
				if p, ok := x.X.(*ast.Ident); ok {
					uses[p.Name+"."+x.Sel.Name]++
				}
				uses["."+x.Sel.Name]++
			}
			return true
		})
	}
	pkgs := packages(t)
	for _, dir := range sorted(pkgs) {
		if !isPublic(dir) {
			continue
		}
		needed := map[string]bool{}
		var functions []string
		for _, f := range pkgs[dir] {
			for _, d := range f.ast.Decls {
				names := map[string]bool{}
				addNames(names, d, true)
				for name, exported := range names {
					_, isFunc := d.(*ast.FuncDecl)
					switch {
					case !exported:
					case isFunc:
						functions = append(functions, name)
					default:
						needed[name] = true
					}
				}
			}
		}
		count := func(name string) int {
			if method, ok := strings.CutPrefix(name, "Tensor"); ok && strings.HasPrefix(method, ".") {
				return uses[method]
			}
			return uses[pkgs[dir][0].ast.Name.Name+"."+name]
		}
		slices.SortFunc(functions, func(a, b string) int { return cmp.Or(count(b)-count(a), strings.Compare(a, b)) })
		for _, name := range functions[:min(len(functions), mostUsed)] {
			needed[name] = true
		}
		for _, name := range sorted(needed) {
			short := name[strings.LastIndex(name, ".")+1:]
			if !shown[dir][short] && reasonFor(dir, name) == "" {
				t.Errorf("%s.%s has no example: write one, or give the reason in the list withoutExample", dir, name)
			}
		}
		for _, names := range withoutExample[dir] {
			for _, name := range strings.Fields(names) {
				if !needed[name] || shown[dir][name] {
					t.Errorf("the list withoutExample needs no entry for %s.%s", dir, name)
				}
			}
		}
	}
}

var exampleName = regexp.MustCompile(`^Example([A-Z]\w*?)?(_.*)?$`)

// addShown adds the identifiers in the names and bodies of a file's Example functions.
func addShown(shown map[string]map[string]bool, f *file) {
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Body == nil {
			continue
		}
		m := exampleName.FindStringSubmatch(fn.Name.Name)
		if m == nil {
			continue
		}
		if shown[f.dir] == nil {
			shown[f.dir] = map[string]bool{}
		}
		for _, name := range strings.Split(m[1]+m[2], "_") {
			shown[f.dir][name] = true
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				shown[f.dir][id.Name] = true
			}
			return true
		})
	}
}
