package policy

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

const purego = "github.com/ebitengine/purego"

// gpuPackages must not be linked into a program that opens no GPU.
var gpuPackages = []string{module + "/webgpu", module + "/internal/gpu", module + "/internal/wgpu", module + "/internal/shader", module + "/internal/schedule", module + "/internal/wgsl", module + "/cuda", module + "/internal/cuda", module + "/internal/ptx", module + "/internal/dynlib", purego}

// TestLink builds programs and checks their packages, modules and functions for GPU code.
func TestLink(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	for _, c := range []struct {
		imports string // besides tensor
		call    string
		gpu     bool
	}{
		{"", "", false},
		{"data grad nn optim safetensors train", "", false},
		{"device", `device.Open("")`, true}, // shows that the test finds GPU code
	} {
		t.Run(c.imports, func(t *testing.T) {
			t.Parallel()
			source, program := filepath.Join(t.TempDir(), "main.go"), filepath.Join(t.TempDir(), "program")
			text := "package main\n\nimport \"" + module + "/tensor\"\n"
			for _, name := range strings.Fields(c.imports) {
				blank := "_ "
				if c.call != "" {
					blank = ""
				}
				text += "import " + blank + "\"" + module + "/" + name + "\"\n"
			}
			text += "\nfunc main() {\n\tprintln(tensor.Scalar(1).Add(1).Item())\n\t" + c.call + "\n}\n"
			if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			packages := strings.Fields(goTool(t, "list", "-deps", source))
			goTool(t, "build", "-o", program, source)
			info, err := buildinfo.ReadFile(program)
			if err != nil {
				t.Fatal(err)
			}
			named := slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return m.Path == purego })
			if named != c.gpu {
				t.Errorf("the program has the module %s: %v, want %v", purego, named, c.gpu)
			}
			functions := functionPackages(goTool(t, "tool", "nm", program))
			if !slices.Contains(functions, module+"/tensor") {
				t.Fatalf("no function of tensor found: the program has some of %q", functions)
			}
			for _, p := range gpuPackages {
				if got := slices.Contains(packages, p); got != c.gpu {
					t.Errorf("the program has the package %s: %v, want %v", p, got, c.gpu)
				}
				if got := slices.Contains(functions, p); got != c.gpu {
					t.Errorf("the program has functions of %s: %v, want %v", p, got, c.gpu)
				}
			}
		})
	}
}

// goTool returns the output of the go command.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// buildProgram builds a program of one file, path.go, and returns its path, which Windows runs too.
func buildProgram(t *testing.T, path, source string) (program string) {
	t.Helper()
	if err := os.WriteFile(path+".go", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	program = path + ".exe"
	goTool(t, "build", "-o", program, path+".go")
	return program
}

// functionPackages lists the packages of the functions in the output of go tool nm.
func functionPackages(nm string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`(?m) [Tt] ((?:[^\s/]+/)*[^\s/.]+)\.`).FindAllStringSubmatch(nm, -1) {
		list = append(list, m[1])
	}
	slices.Sort(list)
	return slices.Compact(list)
}
