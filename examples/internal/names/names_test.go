package names

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tensorken/tensorken/tensor"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		err  string
	}{
		{text: "ida\nola\n", want: []string{"ida", "ola"}},
		{text: "ida\r\nola", want: []string{"ida", "ola"}},
		{text: "\n Ida\t\n\nOLA\n", want: []string{"ida", "ola"}},
		{text: "\ufeffida\nola\n", want: []string{"ida", "ola"}},
		{text: "\ufeff", err: "f: the file has no names"},
		{text: "ida\n\ufeffola\n", err: `f:2: name "\ufeffola": want letters from a to z only`},
		{text: "", err: "f: the file has no names"},
		{text: " \n\n", err: "f: the file has no names"},
		{text: "ida\nr2d2\n", err: `f:2: name "r2d2": want letters from a to z only`},
		{text: "ida\n\nanna lena\n", err: `f:3: name "anna lena": want letters from a to z only`},
		{text: "Renée\n", err: `f:1: name "Renée": want letters from a to z only`},
		{text: "a.b\n", err: `f:1: name "a.b": want letters from a to z only`},
		{text: "\x00\xff\n", err: `f:1: name "\x00\xff": want letters from a to z only`},
		{text: strings.Repeat("1", 1000), err: `f:1: name "` + strings.Repeat("1", 40) + `": want letters from a to z only`},
	} {
		got, err := parse(c.text, "f")
		if !slices.Equal(got, c.want) || message(err) != c.err {
			t.Errorf("parse(%.40q, \"f\") = %q, %v, want %q, %s", c.text, got, err, c.want, c.err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	if got, err := Read(path); !os.IsNotExist(err) || !strings.Contains(message(err), path) {
		t.Errorf("Read of no file = %q, %v, want an error that names it", got, err)
	}
	if err := os.WriteFile(path, []byte("Ida\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(path); err != nil || !slices.Equal(got, []string{"ida"}) {
		t.Errorf("Read(%q) = %q, %v, want [ida]", path, got, err)
	}
}

// TestBuiltIn holds the list sorted, so that no name comes twice.
func TestBuiltIn(t *testing.T) {
	got, err := Read("")
	if err != nil || len(got) < 300 {
		t.Fatalf("Read(\"\") gives %d names, %v, want some hundred", len(got), err)
	}
	if want := slices.Compact(slices.Sorted(slices.Values(got))); !slices.Equal(got, want) {
		t.Errorf("the names are not in order, or not all different:\n%s", cmp.Diff(want, got))
	}
}

func TestPairs(t *testing.T) {
	first, second := Pairs([]string{"eve", "a"})
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want []int32
	}{
		{"first", first, []int32{0, 5, 22, 5, 0, 1}},
		{"second", second, []int32{5, 22, 5, 0, 1, 0}},
	} {
		got, err := tensor.Data[int32](c.got)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Pairs([eve a]) has the %s symbols %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

func TestSample(t *testing.T) {
	// Models that know one name each: the next letter is certain.
	next := func(to func(from int) int) tensor.Tensor {
		p := make([]float32, len(Alphabet)*len(Alphabet))
		for i := range len(Alphabet) {
			p[i*len(Alphabet)+to(i)] = 1
		}
		return tensor.New(p, len(Alphabet), len(Alphabet))
	}
	for _, c := range []struct {
		p    tensor.Tensor
		want string
	}{
		{next(func(i int) int { return (i + 1) % len(Alphabet) }), Alphabet[1:]},
		{next(func(i int) int { return 1 }), strings.Repeat("a", maxLen)}, // without end
		{next(func(i int) int { return 0 }), ""},
	} {
		got, err := Sample(tensor.NewRNG(1), c.p, 2)
		if want := []string{c.want, c.want}; err != nil || !slices.Equal(got, want) {
			t.Errorf("Sample gives %q, %v, want %q", got, err, want)
		}
	}
}
