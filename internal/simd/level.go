package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A level is a set of instructions that routines are written for.
type level struct {
	name    string
	ok      bool // the processor has it
	install func()
}

// Variable names a level. By default the tables have the routines of the processor's
// best one.
const Variable = "TENSORKEN_SIMD"

// Level is the name of the level whose routines the tables have.
var Level = "go"

// Err is the reason why the level that Variable names is not installed, or nil.
var Err = start()

func start() error {
	name := os.Getenv(Variable)
	if name == "" {
		use(available()[0].name)
		return nil
	}
	if !slices.ContainsFunc(available(), func(l level) bool { return l.name == name }) {
		return fmt.Errorf("%s: %q is none of %s, which this processor and this build have", Variable, name, strings.Join(Levels(), ", "))
	}
	use(name)
	return nil
}

// Levels lists the names of the levels that the processor and the build have, the best
// one first. The last one, "go", needs no assembly.
func Levels() []string {
	var names []string
	for _, l := range available() {
		names = append(names, l.name)
	}
	return names
}

func available() []level {
	all := append(slices.Clone(levels), level{"go", true, func() {}})
	return slices.DeleteFunc(all, func(l level) bool { return !l.ok })
}

// use installs a level: its routines replace worse levels' routines.
func use(name string) {
	list := available()
	at := slices.IndexFunc(list, func(l level) bool { return l.name == name })
	for _, l := range slices.Backward(list[at:]) {
		l.install()
	}
	Level = name
}
