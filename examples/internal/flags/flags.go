// Package flags is what the examples share: programs that take flags and
// nothing else.
package flags

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

// Parse is flag.Parse for a program whose only arguments are flags. If it is
// given another, Parse prints a message and ends the program with status 2, as
// flag.Parse does for flags that it does not know.
func Parse() {
	flag.Parse()
	if err := stray(flag.CommandLine); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// stray is an error if an argument belongs to no flag. It names all flags,
// since the argument may be the value of one, such as a file.
func stray(set *flag.FlagSet) error {
	if set.NArg() == 0 {
		return nil
	}
	var flags []string
	set.VisitAll(func(f *flag.Flag) { flags = append(flags, "-"+f.Name) })
	return fmt.Errorf("unexpected argument %q: name what it is for: %s", set.Arg(0), strings.Join(flags, ", "))
}
