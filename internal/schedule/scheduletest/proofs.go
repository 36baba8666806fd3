package scheduletest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver/drivertest"
)

const (
	root   = "../../../" // of the packages of tests that have proofs
	module = "github.com/tensorken/tensorken/"
)

// WithProofs runs tests, which read *p, with the proofs of the file that TENSORKEN_PROOFS names, if it names one. Programs
// of kernels are made by some packages, named by folder, and by their imports.
func WithProofs(m *testing.M, p **drivertest.Proofs, makers ...string) (status int) {
	path := os.Getenv("TENSORKEN_PROOFS")
	if path == "" {
		return m.Run()
	}
	tests, programs := sources{}, sources{deps: true}
	err := errors.Join(tests.add(tested...), programs.add(makers...))
	if err == nil {
		*p, err = drivertest.LoadProofs(path, tests.String(), programs.String())
	}
	if err == nil {
		if status = m.Run(); status == 0 {
			err = (*p).Save(path)
		}
	}
	if err != nil {
		log.Print(err)
		return 1
	}
	return status
}

// tested are the packages that values of tests are from. Formats of internal/blocks are in programs too, which their
// makers do not import.
var tested = []string{"driver/drivertest", "internal/shader/simt", "internal/interp", "internal/cases", "internal/blocks", "ir"}

// plans are the files of package ir that decide which kernels there are, and not their values: a proof has the kernel.
var plans = []string{"inplace.go", "loop.go", "machine.go"}

// sources are packages by folder, each a hash of its files, such as data that Go files embed, without tests and comments.
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
		names, err := filepath.Glob(filepath.Join(root, f, "*.*"))
		if err != nil {
			return err
		}
		h, imports := sha256.New(), []string{}
		for _, name := range names {
			base := filepath.Base(name)
			if strings.HasSuffix(name, "_test.go") || f == "ir" && !s.deps && slices.Contains(plans, base) {
				continue
			}
			fmt.Fprintf(h, "%q\n", base)
			if filepath.Ext(base) != ".go" {
				data, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(h, "%d %s", len(data), data)
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
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
