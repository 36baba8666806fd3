package scheduletest_test

import (
	"crypto/sha256"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../../../"
	module = "github.com/tensorken/tensorken/"
)

// sources are packages by folder, each a hash of its Go files without tests and comments.
type sources struct {
	deps  bool // also those that they import, but drivertest, which makes no programs
	folds map[string][32]byte
}

// add adds packages of this module.
func (s *sources) add(folders ...string) error {
	for _, f := range folders {
		if _, ok := s.folds[f]; ok || s.deps && f == "driver/drivertest" {
			continue
		}
		names, err := filepath.Glob(filepath.Join(root, f, "*.go"))
		if err != nil {
			return err
		}
		h, imports := sha256.New(), []string{}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%q\n", filepath.Base(name))
			if err := format.Node(h, set, file); err != nil {
				return err
			}
			for _, i := range file.Imports {
				if path, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ok && s.deps {
					imports = append(imports, path)
				}
			}
		}
		if s.folds == nil {
			s.folds = map[string][32]byte{}
		}
		s.folds[f] = [32]byte(h.Sum(nil))
		if err := s.add(imports...); err != nil {
			return err
		}
	}
	return nil
}

// String is equal for equal packages.
func (s *sources) String() string {
	var b strings.Builder
	for _, f := range slices.Sorted(maps.Keys(s.folds)) {
		fmt.Fprintf(&b, "%s %x\n", f, s.folds[f])
	}
	return b.String()
}

// Programs are made by the packages that a change of them makes unknown.
func TestSources(t *testing.T) {
	s := sources{deps: true}
	if err := s.add("internal/schedule", "internal/schedule/scheduletest"); err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields("ir internal/loopnest internal/ptx internal/schedule internal/schedule/attention internal/schedule/build internal/schedule/scheduletest internal/shader internal/wgsl") {
		if _, ok := s.folds[f]; !ok {
			t.Errorf("%s is missing", f)
		}
	}
	for _, f := range strings.Fields("internal/exec internal/kernelize tensor") {
		if _, ok := s.folds[f]; ok {
			t.Errorf("%s makes no programs", f)
		}
	}
}
