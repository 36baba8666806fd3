package policy

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// requirements lists the modules that go.mod may require directly. Those not in thirdParty
// are for tests.
var requirements = append(sorted(thirdParty),
	"github.com/chromedp/cdproto",
	"github.com/chromedp/chromedp",
	"github.com/google/go-cmp",
)

// goVersion is the oldest version of Go that builds the module: golang.org/x/image asks for it.
const goVersion = "1.26.0"

func TestGoMod(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Module    struct{ Path string }
		Go        string
		Toolchain string
		Require   []struct {
			Path     string
			Indirect bool
		}
		Replace []struct{ Old struct{ Path string } }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	if mod.Module.Path != module || mod.Go != goVersion || mod.Toolchain != "" {
		t.Errorf("go.mod: module %q, go %q, toolchain %q; want %q, %q, none", mod.Module.Path, mod.Go, mod.Toolchain, module, goVersion)
	}
	for _, r := range mod.Require {
		if !r.Indirect && !slices.Contains(requirements, r.Path) {
			t.Errorf("go.mod requires %s, which is not in the list requirements", r.Path)
		}
	}
	for _, r := range mod.Replace {
		t.Errorf("go.mod replaces %s: importers of this module would not get the replacement", r.Old.Path)
	}
}

// TestGoSum holds the modules in the go.sum of a program that trains a model. The go command
// writes down there also what the tests of the packages that the program has import, so
// these tests import few modules too.
func TestGoSum(t *testing.T) {
	if testing.Short() {
		t.Skip("lists all packages")
	}
	list := func(format string, paths ...string) []string {
		cmd := exec.Command("go", append([]string{"list", "-deps", "-f", format}, paths...)...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
		lines := strings.Fields(string(out))
		slices.Sort(lines)
		return slices.Compact(lines)
	}
	program := []string{"./tensor", "./grad", "./nn", "./optim", "./train", "./models", "./device"}
	tests := list(`{{if and .Module .Module.Main}}{{join .TestImports "\n"}}{{"\n"}}{{join .XTestImports "\n"}}{{end}}`, program...)
	got := list(`{{if .Module}}{{if not .Module.Main}}{{.Module.Path}}{{end}}{{end}}`, append(program, tests...)...)
	if want := []string{"github.com/ebitengine/purego", "golang.org/x/sys"}; !slices.Equal(got, want) {
		t.Errorf("a program that imports %v has the modules %v in its go.sum, want %v", program, got, want)
	}
}
