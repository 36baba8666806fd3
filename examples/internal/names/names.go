// Package names provides the examples that generate names with lists of names, their
// letters as numbers, and sampling from a model.
package names

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/tensor"
)

// Alphabet has the symbols of names, indexed by their numbers. A dot precedes and follows
// every name, so that a model learns how names start and end.
const Alphabet = ".abcdefghijklmnopqrstuvwxyz"

//go:embed names.txt
var builtIn string

// Usage is the usage text of a program's flag -names.
const Usage = "file of names, one a line (default a built-in list)"

// Read returns the names in a file, one a line, or a few hundred built-in names from many
// countries if path is "". It converts to lower case and skips spaces around names, blank
// lines and a byte order mark. It is an error if a line has other characters than the
// letters a to z, or if the file has no names.
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

// Pairs returns the first and the second symbols of all pairs of neighbours in the names,
// dots included, both int32 [pairs]. The name "eve" has the pairs .e, ev, ve and e., that
// is 0 5, 5 22, 22 5 and 5 0.
func Pairs(list []string) (first, second tensor.Tensor) {
	var symbols []int32
	for _, name := range list {
		symbols = append(symbols, 0)
		for _, letter := range []byte(name) {
			symbols = append(symbols, int32(strings.IndexByte(Alphabet, letter)))
		}
	}
	// The dot that starts a name also ends the name before it.
	return tensor.New(symbols), tensor.New(append(symbols[1:], 0))
}

// maxLen is the number of symbols at which Sample cuts a name.
const maxLen = 50

// Sample draws n names. The row of p, float32 [27 27], of a symbol has the probabilities
// of the next symbol. All names grow together, a symbol at a time, until each has a dot.
func Sample(rng *tensor.RNG, p tensor.Tensor, n int) ([]string, error) {
	list := make([]string, n)
	unfinished := func(name string) bool { return !strings.Contains(name, ".") && len(name) < maxLen }
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
	for i := range list { // cut the symbols drawn after the end
		list[i], _, _ = strings.Cut(list[i], ".")
	}
	return list, nil
}
