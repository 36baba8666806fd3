package policy

import (
	"encoding/json"
	"os/exec"
	"slices"
	"testing"
)

// requirements lists the modules that go.mod may require directly. Those not in thirdParty
// are for tests.
var requirements = append(sorted(thirdParty),
	"github.com/chromedp/cdproto",
	"github.com/chromedp/chromedp",
	"github.com/google/go-cmp",
	"pgregory.net/rapid",
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
