package policy

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// opens lists the functions of package os that open a file by its name.
var opens = []string{"Open", "OpenFile", "ReadFile", "Create", "CreateTemp", "WriteFile"}

// openers lists the functions of public packages that may call one of opens, each with the
// reason. All others open through internal/files, which refuses devices and pipes, limits the
// files that are read whole, and replaces files atomically.
var openers = map[string]string{
	"llm/hub/file.go resume":        "a file that came in part is appended to",
	"train/log.go openLog":          "a log is appended to",
	"plot/notebook.go openNotebook": "a pipe of the notebook's server",
}

func TestFilesAreOpenedByFiles(t *testing.T) {
	unused := maps.Clone(openers)
	for _, f := range sources(t) {
		if f.isTest() || !isPublic(f.dir) {
			continue
		}
		for _, d := range f.ast.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			key := f.name + " " + d.Name.Name
			for call := range callsOf(d, "os") {
				name := call.Fun.(*ast.SelectorExpr).Sel.Name
				if !slices.Contains(opens, name) {
					continue
				}
				if openers[key] == "" {
					t.Errorf("%s: %s calls os.%s: open files by internal/files, or give the reason in the list openers", fset.Position(call.Pos()), d.Name.Name, name)
				}
				delete(unused, key)
			}
		}
	}
	for _, key := range sorted(unused) {
		t.Errorf("the list openers needs no entry for %s", key)
	}
}

// decoders lists the functions of the library that decode JSON by themselves, each with the reason.
// All others decode by files.JSON, which checks the memory of the values first.
var decoders = map[string]string{
	"data/lines.go JSONLinesUpTo":        "it checks the memory, for values of any type",
	"data/table/encoder.go names":        "it checks the memory, for a list of texts",
	"internal/bench/peers.go find":       "a program that the user names answers",
	"internal/bench/peers.go measure":    "a program that the user names answers",
	"internal/files/json.go JSON":        "it is files.JSON",
	"internal/pyvalue/json.go Decode":    "it checks the memory, and keeps the order of keys",
	"models/vit.go UnmarshalJSON":        "it is called by a decoder",
	"safetensors/file.go openIndex":      "it checks the memory",
	"safetensors/header.go eachMember":   "parseHeader and openIndex check the memory",
	"safetensors/header.go parseEntry":   "parseHeader checks the memory",
	"safetensors/header.go parseStrings": "parseHeader and openIndex check the memory",
	"tensor/json.go UnmarshalJSON":       "elements are decoded one by one",
	"tokenizer/train.go readPipeline":    "the text is the library's own",
}

func TestJSONIsDecodedByFiles(t *testing.T) {
	unused := maps.Clone(decoders)
	for _, f := range sources(t) {
		if f.isTest() || isProgram(f.dir) || strings.HasSuffix(f.dir, "test") {
			continue
		}
		for _, d := range f.ast.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			key := f.name + " " + d.Name.Name
			for call := range callsOf(d, "json") {
				name := call.Fun.(*ast.SelectorExpr).Sel.Name
				if name != "Unmarshal" && name != "NewDecoder" {
					continue
				}
				if decoders[key] == "" {
					t.Errorf("%s: %s calls json.%s: decode by files.JSON, or give the reason in the list decoders", fset.Position(call.Pos()), d.Name.Name, name)
				}
				delete(unused, key)
			}
		}
	}
	for _, key := range sorted(unused) {
		t.Errorf("the list decoders needs no entry for %s", key)
	}
}

// callsOf yields the calls of a package's functions in a node.
func callsOf(n ast.Node, pkg string) func(func(*ast.CallExpr) bool) {
	return func(yield func(*ast.CallExpr) bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			id, ok := sel.X.(*ast.Ident)
			return !ok || id.Name != pkg || yield(call)
		})
	}
}

// readers lists the packages whose errors have text of files.
var readers = strings.Fields(`safetensors npy imageio wav data data/images data/table models internal/files internal/treefile
	gguf onnx onnx/internal/proto onnx/internal/op onnx/internal/ops onnx/internal/ops/core onnx/internal/ops/neural
	onnx/internal/ops/host onnx/internal/ops/ml onnx/internal/ops/quant onnx/internal/ops/image onnx/internal/ops/signal
	tokenizer tokenizer/internal/match tokenizer/internal/norm tokenizer/internal/protobuf tokenizer/internal/subword
	internal/vocabulary internal/jinja llm llm/hub`)

// plain are expressions of texts that are the library's own, or quoted where they are made.
var plain = strings.Fields(`f.name kind.name m.encoding wanted[key] what how typ key dtype order codes[d] tuple
	indexSuffix encodings[e].name encodings[s.encoding].name unknownTags[tag] elementTypes[e.typ].name lengths p.stack r.op
	base end alignmentKey old token v.name f.Server fits until n.Missing p.Key f.path p.Type
	op hint f.reason sep.name found[0].text found[1].text say where f.file field.Name goName
	Sprintf:path Sprintf:stem Sprintf:name`) // the last: names of files to open, and of settings

var verb = regexp.MustCompile(`%[-+# 0-9.*\[\]]*([a-zA-Z%])`)

// Text of files and of folders reaches terminals and logs: errors of readers print a text by
// %q, by files.Name, or by another call that quotes.
func TestTextOfFilesIsQuoted(t *testing.T) {
	unused := map[string]bool{}
	for _, text := range plain {
		unused[text] = true
	}
	for _, f := range sources(t) {
		if f.isTest() || !slices.Contains(readers, f.dir) {
			continue
		}
		for call := range callsOf(f.ast, "fmt") {
			name := call.Fun.(*ast.SelectorExpr).Sel.Name
			if name != "Errorf" && name != "Sprintf" || len(call.Args) == 0 {
				continue
			}
			lit, ok := call.Args[0].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				continue
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			args := call.Args[1:]
			for _, m := range verb.FindAllStringSubmatch(text, -1) {
				if m[1] == "%" || len(args) == 0 {
					continue
				}
				arg := args[0]
				args = args[1:]
				if _, isCall := arg.(*ast.CallExpr); isCall || m[1] != "s" {
					continue
				}
				shown := f.src[fset.Position(arg.Pos()).Offset:fset.Position(arg.End()).Offset]
				if name == "Sprintf" && slices.Contains(plain, "Sprintf:"+shown) {
					shown = "Sprintf:" + shown
				}
				if !slices.Contains(plain, shown) {
					t.Errorf("%s: %s prints %s by %%s: if it is text of a file or a name of one, use %%q or files.Name; else add it to the list plain", fset.Position(arg.Pos()), name, shown)
				}
				delete(unused, shown)
			}
		}
	}
	for _, text := range sorted(unused) {
		t.Errorf("the list plain needs no entry for %s", text)
	}
}
