// Package flags parses the command lines of examples, which take flags only.
package flags

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/internal/interrupt"
)

// Run parses flags, uses the device of that name, and runs a program until it ends or Ctrl-C is pressed.
func Run(on *string, run func(ctx context.Context, w io.Writer) error, needed ...string) {
	Parse(needed...)
	err := device.Use(*on, os.Stderr)
	if err == nil {
		err = run(interrupt.Context(), os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// Parse is flag.Parse for a program whose only arguments are flags. For another argument
// it prints a message and exits with status 2, as flag.Parse does for unknown flags; also if a
// flag of the list is empty.
func Parse(needed ...string) {
	flag.Parse()
	if err := cmp.Or(stray(flag.CommandLine), lacking(flag.CommandLine, needed)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// stray returns an error if an argument belongs to no flag. It names all flags, since the
// argument may be the value of one, such as a file.
func stray(set *flag.FlagSet) error {
	if set.NArg() == 0 {
		return nil
	}
	var flags []string
	set.VisitAll(func(f *flag.Flag) { flags = append(flags, "-"+f.Name) })
	return fmt.Errorf("unexpected argument %q: name what it is for: %s", set.Arg(0), strings.Join(flags, ", "))
}

// lacking returns an error if a flag that is needed is empty.
func lacking(set *flag.FlagSet, needed []string) error {
	for _, name := range needed {
		if f := set.Lookup(name); f.Value.String() == "" {
			return fmt.Errorf("want -%s, %s", name, f.Usage)
		}
	}
	return nil
}
