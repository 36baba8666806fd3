package policy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// never lists imports that order allows and the design forbids: no package of from
// imports one of to, directly or through others.
var never = []struct{ from, to, why string }{
	{
		"tensor tree grad fft nn optim data",
		"internal/shader internal/schedule/build internal/schedule internal/wgsl internal/ptx internal/dynlib internal/wgpu internal/gpudevice internal/gpu internal/cuda webgpu cuda device",
		"a program that opens no GPU links no GPU code",
	},
	{
		"internal/schedule internal/wgsl internal/ptx internal/dynlib internal/wgpu",
		"internal/graph",
		"a device knows kernels and no tensors",
	},
}

// thirdParty lists the packages, or folders of packages, that may import a module.
var thirdParty = map[string]string{
	"github.com/dlclark/regexp2":    "tokenizer/internal/match",
	"golang.org/x/text":             "tokenizer/internal/norm",
	"github.com/ebitengine/purego":  "internal/dynlib internal/wgpu",
	"golang.org/x/sys":              "internal/simd internal/dynlib internal/hostmem internal/mapped internal/terminal internal/interrupt",
	"golang.org/x/image":            "imageio",
	"gonum.org/v1/gonum":            "linalg",
	"gonum.org/v1/plot":             "plot",
	"github.com/spf13/cobra":        "cmd",
	"github.com/andybalholm/brotli": "examples/web",
}

// mayShare reports whether a program may import a package of programs: one in its own
// folder, or an internal one of a folder above.
func mayShare(dir, path string) bool {
	parent, _, internal := strings.Cut(path, "/internal/")
	return under(path, dir) || internal && under(dir, parent)
}

// imports returns the imports of each package on all systems.
func imports(t *testing.T) map[string][]string {
	all := map[string][]string{}
	for dir, files := range packages(t) {
		paths := []string{}
		for _, f := range files {
			for _, spec := range f.ast.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
			}
		}
		slices.Sort(paths)
		all[dir] = slices.Compact(paths)
	}
	return all
}

func TestImportOrder(t *testing.T) {
	all := imports(t)
	for _, dir := range order {
		if all[dir] == nil {
			t.Errorf("the list layers has %s, which does not exist", dir)
		}
	}
	for _, dir := range sorted(all) {
		rank := slices.Index(order, dir)
		if isProgram(dir) {
			rank = len(order)
		}
		if rank < 0 {
			t.Errorf("package %s is not in the list layers", dir)
			continue
		}
		for _, path := range all[dir] {
			local, ok := strings.CutPrefix(path, module+"/")
			if !ok || isProgram(dir) && mayShare(dir, local) {
				continue
			}
			if r := slices.Index(order, local); r < 0 || r >= rank {
				t.Errorf("package %s imports %s, which is not before it in the list layers", dir, local)
			}
		}
	}
}

// The table of packages in docs/architecture.md has the layers in their order, and programs last.
func TestTableOfPackages(t *testing.T) {
	const page = "docs/architecture.md"
	_, section, _ := strings.Cut(text(t, page), "\n## Packages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	name := regexp.MustCompile("`([^`]+)`")
	var table, want []string
	for i, line := range regexp.MustCompile(`(?m)^\|.*`).FindAllString(section, -1) {
		cells := strings.Split(line, "|")
		if i < 2 {
			continue // the head
		}
		if layer := strings.TrimSpace(cells[1]); layer != "" {
			table = append(table, "layer "+layer)
		}
		for _, m := range name.FindAllStringSubmatch(cells[2], -1) {
			if !isProgram(m[1]) {
				table = append(table, m[1])
			}
		}
	}
	for _, l := range layers {
		want = append(append(want, "layer "+l.name), strings.Fields(l.packages)...)
	}
	for i := range max(len(table), len(want)) {
		if i >= len(table) || i >= len(want) || table[i] != want[i] {
			t.Fatalf("the table of packages in %s goes on with %v, the list layers with %v", page, table[min(i, len(table)):], want[min(i, len(want)):])
		}
	}
}

func TestImportNever(t *testing.T) {
	all := imports(t)
	for _, rule := range never {
		to := strings.Fields(rule.to)
		for _, dir := range strings.Fields(rule.from + " " + rule.to) {
			if all[dir] == nil {
				t.Errorf("the list never has %s, which does not exist", dir)
			}
		}
		for _, from := range strings.Fields(rule.from) {
			if chain := reach(all, from, to); chain != nil {
				t.Errorf("%s: %s", strings.Join(chain, " imports "), rule.why)
			}
		}
	}
}

// reach returns a chain of imports from a package to one of to, or nil.
func reach(all map[string][]string, from string, to []string) []string {
	seen := map[string]bool{}
	var visit func(dir string) []string
	visit = func(dir string) []string {
		if slices.Contains(to, dir) {
			return []string{dir}
		}
		if seen[dir] {
			return nil
		}
		seen[dir] = true
		for _, path := range all[dir] {
			if local, ok := strings.CutPrefix(path, module+"/"); ok {
				if chain := visit(local); chain != nil {
					return append([]string{dir}, chain...)
				}
			}
		}
		return nil
	}
	return visit(from)
}

func TestImportThirdParty(t *testing.T) {
	all := imports(t)
	for mod, dirs := range thirdParty {
		for _, folder := range strings.Fields(dirs) {
			if !slices.ContainsFunc(sorted(all), func(dir string) bool {
				return under(dir, folder) && slices.ContainsFunc(all[dir], func(path string) bool { return under(path, mod) })
			}) {
				t.Errorf("the list thirdParty allows %s in %s, where nothing imports it", mod, folder)
			}
		}
	}
	for _, dir := range sorted(all) {
		for _, path := range all[dir] {
			first, _, _ := strings.Cut(path, "/")
			if !strings.Contains(first, ".") || strings.HasPrefix(path, module+"/") {
				continue // the standard library, or ours
			}
			if !mayImport(dir, path) {
				t.Errorf("package %s imports %s, which the list thirdParty does not allow", dir, path)
			}
		}
	}
}

func mayImport(dir, path string) bool {
	for mod, dirs := range thirdParty {
		if !under(path, mod) {
			continue
		}
		for _, d := range strings.Fields(dirs) {
			if under(dir, d) {
				return true
			}
		}
	}
	return false
}

// under reports whether a path is the folder or is in it.
func under(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}
