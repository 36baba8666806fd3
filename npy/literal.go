package npy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
)

// A parser reads a Python literal, of the kinds that headers have: dicts, tuples and lists,
// strings without escapes, integers, True, False and None.
type parser struct {
	text  string
	depth int
	count int // of values so far
}

// A list is a tuple or a list.
type list []any

// The greatest nesting of literals, and the greatest number of them in a header.
const (
	maxDepth  = 64
	maxValues = 1 << 12
)

var errLiteral = errors.New("its header is no Python literal")

// parseDict parses a literal that is a dict and nothing else.
func parseDict(text string) (map[string]any, error) {
	p := &parser{text: text}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	d, ok := v.(map[string]any)
	if p.skip(); !ok || p.text != "" {
		return nil, errors.New("its header is no Python dict")
	}
	return d, nil
}

// skip skips white space.
func (p *parser) skip() { p.text = strings.TrimLeft(p.text, " \t\r\n") }

// accept skips white space and then s, if it is next.
func (p *parser) accept(s string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.text, s)
	if ok {
		p.text = rest
	}
	return ok
}

// constants are literals that are words.
var constants = []struct {
	word  string
	value any
}{{"True", true}, {"False", false}, {"None", nil}}

func (p *parser) value() (any, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("its header is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	if p.count++; p.count > maxValues {
		return nil, fmt.Errorf("its header has more than %d values", maxValues)
	}
	for _, c := range constants {
		if p.accept(c.word) {
			return c.value, nil
		}
	}
	switch {
	case p.accept("{"):
		return p.dict()
	case p.accept("("):
		return p.list(")")
	case p.accept("["):
		return p.list("]")
	case p.accept("'"):
		return p.str("'")
	case p.accept(`"`):
		return p.str(`"`)
	}
	return p.integer()
}

func (p *parser) str(quote string) (any, error) {
	s, rest, ok := strings.Cut(p.text, quote)
	if !ok || strings.ContainsAny(s, "\\\n") {
		return nil, errLiteral
	}
	p.text = rest
	return s, nil
}

// integer parses an integer, which Python 2 may have written with an L.
func (p *parser) integer() (any, error) {
	n := 0
	for n < len(p.text) && (p.text[n] == '-' && n == 0 || '0' <= p.text[n] && p.text[n] <= '9') {
		n++
	}
	i, err := strconv.Atoi(p.text[:n])
	if errors.Is(err, strconv.ErrRange) {
		return nil, fmt.Errorf("its header has the number %s: more than can be counted", shown(p.text[:n]))
	}
	if err != nil {
		return nil, errLiteral
	}
	p.text = strings.TrimPrefix(p.text[n:], "L")
	return i, nil
}

func (p *parser) list(end string) (any, error) {
	l := list{}
	for !p.accept(end) {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		l = append(l, v)
		if p.accept(",") {
			continue
		}
		if !p.accept(end) {
			return nil, errLiteral
		}
		if end == ")" && len(l) == 1 {
			return v, nil // in parentheses
		}
		break
	}
	return l, nil
}

func (p *parser) dict() (any, error) {
	d := map[string]any{}
	for !p.accept("}") {
		k, err := p.value()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok || !p.accept(":") {
			return nil, errLiteral
		}
		if _, ok := d[key]; ok {
			return nil, fmt.Errorf("its header has the key %q twice", key)
		}
		if d[key], err = p.value(); err != nil {
			return nil, err
		}
		if !p.accept(",") {
			if !p.accept("}") {
				return nil, errLiteral
			}
			break
		}
	}
	return d, nil
}

// shown is a value of a file for an error: short, and on one line.
func shown(v any) string {
	const most = 60
	s := fmt.Sprint(v)
	return files.Name(s[:min(len(s), most)])
}
