// Package flags parses the command lines of examples, which take flags only.
package flags

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

// Parse is flag.Parse for a program whose only arguments are flags. For another argument
// it prints a message and exits with status 2, as flag.Parse does for unknown flags.
func Parse() {
	flag.Parse()
	if err := stray(flag.CommandLine); err != nil {
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
