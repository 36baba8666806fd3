// Package names is what examples that learn to make names share: lists of
// names, their letters as numbers, and names drawn from a model.
package names

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/tensor"
)

// Alphabet holds the symbols that names are made of, each at its number. A dot
// stands before and after every name, so that how names start and end is
// learned as well.
const Alphabet = ".abcdefghijklmnopqrstuvwxyz"

//go:embed names.txt
var builtIn string

// Usage is what a program's flag -names may say of itself.
const Usage = "file of names, one a line (default a list of the program's own)"

// Read returns the names in a file, one a line, or a few hundred from many
// parts of the world if path is "". Capitals become lower case; spaces around
// names, blank lines and a byte order mark are skipped. A line with anything
// but the letters a to z is an error that names it, and so is a file without
// names.
func Read(path string) ([]string, error) {
	if path == "" {
		return parse(builtIn, "built-in names")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(string(b), path)
}

func parse(text, path string) ([]string, error) {
	var list []string
	line := 0
	text = strings.TrimPrefix(text, "\ufeff") // which some editors put first
	for s := range strings.Lines(text) {
		line++
		s = strings.TrimSpace(s)
		name := strings.ToLower(s)
		if i := strings.IndexFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }); i >= 0 {
			return nil, fmt.Errorf("%s:%d: name %.40q: want letters from a to z only", path, line, s)
		}
		if name != "" {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: the file has no names", path)
	}
	return list, nil
}

// Pairs returns the first and the second symbols of all pairs of neighbours in
// the names and the dots around them, both int32 [pairs]. The name "eve" has
// the pairs .e, ev, ve and e. (that is 0 5, 5 22, 22 5 and 5 0).
func Pairs(list []string) (first, second tensor.Tensor) {
	var symbols []int32
	for _, name := range list {
		symbols = append(symbols, 0)
		for _, letter := range []byte(name) {
			symbols = append(symbols, int32(strings.IndexByte(Alphabet, letter)))
		}
	}
	// The dot that starts a name is also the one that ends the name before.
	return tensor.New(symbols), tensor.New(append(symbols[1:], 0))
}

// longest is the number of symbols at which Sample cuts a name.
const longest = 50

// Sample draws n names. The row of p, float32 [27 27], of each symbol has the
// probabilities that one or another follows it.
//
// All names grow at once, by a symbol a turn, until each has come to a dot.
func Sample(rng *tensor.RNG, p tensor.Tensor, n int) ([]string, error) {
	list := make([]string, n)
	unfinished := func(name string) bool { return !strings.Contains(name, ".") && len(name) < longest }
	for last := tensor.Zeros(n).Cast(tensor.Int32); slices.ContainsFunc(list, unfinished); {
		last = rng.Categorical(p.Take(0, last)) // of n rows
		symbols, err := tensor.Data[int32](last)
		if err != nil {
			return nil, err
		}
		for i, s := range symbols {
			list[i] += Alphabet[s : s+1]
		}
	}
	for i := range list { // a name that was done has gone on as another
		list[i], _, _ = strings.Cut(list[i], ".")
	}
	return list, nil
}
