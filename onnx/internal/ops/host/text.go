package host

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Texts has the operators of strings.
var Texts = []op.Row{
	op.New("RegexFullMatch", regexFullMatch),
	op.New("StringConcat", stringConcat),
	op.New("StringNormalizer", stringNormalizer),
	op.New("StringSplit", stringSplit),
	op.New("TfIdfVectorizer", op.One(tfIdf)),
}

// texts returns input i, a tensor of strings.
func texts(c *op.Call, i int) op.Value {
	v := c.Value(i)
	if v.Kind != op.StringKind {
		c.Fail("input %d is %v, want strings", i, v)
	}
	return v
}

// regexFullMatch matches whole strings by RE2's syntax, which is Go's: the leftmost longest match is the string.
func regexFullMatch(c *op.Call) []op.Value {
	v := texts(c, 0)
	re, err := regexp.Compile(c.String("pattern", ""))
	if err != nil {
		c.Fail("%v", err)
	}
	re.Longest()
	out := make([]bool, len(v.Strings))
	for i, s := range v.Strings {
		at := re.FindStringIndex(s)
		out[i] = at != nil && at[0] == 0 && at[1] == len(s)
	}
	return []op.Value{op.Known(op.Of(tensor.New(out, len(out)).Reshape(v.Shape...)))}
}

// stringConcat joins strings element by element, and broadcasts by numbers of strings.
func stringConcat(c *op.Call) []op.Value {
	x, y := texts(c, 0), texts(c, 1)
	index := func(v op.Value) T {
		return tensor.Arange(len(v.Strings)).Cast(tensor.Int64).Reshape(v.Shape...)
	}
	a, b := index(x), index(y)
	a, b = a.Add(tensor.ZerosLike(b)), b.Add(tensor.ZerosLike(a))
	d := *c
	d.In = []op.Value{op.Known(op.Of(a)), op.Known(op.Of(b))}
	at, bt := d.Ints(0), d.Ints(1)
	out := make([]string, len(at))
	for i := range out {
		out[i] = x.Strings[at[i]] + y.Strings[bt[i]]
	}
	return []op.Value{op.Texts(out, a.Shape()...)}
}

// stringNormalizer removes stopwords and changes the case.
func stringNormalizer(c *op.Call) []op.Value {
	v := texts(c, 0)
	if len(v.Shape) == 0 || len(v.Shape) > 2 || len(v.Shape) == 2 && v.Shape[0] != 1 {
		c.Fail("the input has shape %v, want [C] or [1 C]", v.Shape)
	}
	exact := c.Bool("is_case_sensitive", false)
	fold := func(s string) string {
		if exact {
			return s
		}
		return strings.ToLower(s)
	}
	stop := map[string]bool{}
	if a := c.Attr("stopwords"); a != nil {
		for _, s := range a.Strings {
			stop[fold(s)] = true
		}
	}
	var out []string
	for _, s := range v.Strings {
		if stop[fold(s)] {
			continue
		}
		switch action := c.String("case_change_action", "NONE"); action {
		case "LOWER":
			s = strings.ToLower(s)
		case "UPPER":
			s = strings.ToUpper(s)
		case "NONE":
		default:
			c.Fail("there is no case_change_action %q", action)
		}
		out = append(out, s)
	}
	if out == nil {
		out = []string{""}
	}
	shape := []int{len(out)}
	if len(v.Shape) == 2 {
		shape = []int{1, len(out)}
	}
	return []op.Value{op.Texts(out, shape...)}
}

// stringSplit cuts strings at a delimiter, or at white space, and returns parts along a new axis and their
// counts.
func stringSplit(c *op.Call) []op.Value {
	v := texts(c, 0)
	delimiter, most := c.String("delimiter", ""), c.Int("maxsplit", -1)
	parts := make([][]string, len(v.Strings))
	counts := make([]int, len(v.Strings))
	width := 0
	for i, s := range v.Strings {
		if delimiter == "" {
			parts[i] = fields(s, most)
		} else if s != "" {
			n := -1
			if most >= 0 {
				n = most + 1
			}
			parts[i] = strings.SplitN(s, delimiter, n)
		}
		counts[i] = len(parts[i])
		width = max(width, counts[i])
	}
	var out []string
	for _, p := range parts {
		out = append(append(out, p...), make([]string, width-len(p))...)
	}
	return []op.Value{op.Texts(out, append(slices.Clone(v.Shape), width)...), op.KnownInts(counts, v.Shape...)}
}

// fields is Python's split by white space, with at most most cuts, any number if it is negative.
func fields(s string, most int) (list []string) {
	for s = strings.TrimLeftFunc(s, isSpace); s != ""; {
		i := strings.IndexFunc(s, isSpace)
		if i < 0 || most >= 0 && len(list) == most {
			return append(list, s)
		}
		list = append(list, s[:i])
		s = strings.TrimLeftFunc(s[i:], isSpace)
	}
	return list
}

// isSpace reports whether Python's split takes a rune for white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f' }
