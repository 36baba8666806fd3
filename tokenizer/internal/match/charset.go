package match

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

var separators = strings.NewReplacer(" ", "", "_", "", "-", "")

// plainName returns the name of a set of characters in lower case, without spaces, _ and -.
func plainName(name string) string {
	return strings.ToLower(separators.Replace(name))
}

// tableSet returns the characters of a table as they stand in brackets.
func tableSet(t *unicode.RangeTable) string {
	c := &class{}
	c.script(t)
	var b strings.Builder
	for i := 0; i < len(c.ranges); i += 2 {
		fmt.Fprintf(&b, "%s-%s", literal(c.ranges[i]), literal(c.ranges[i+1]))
	}
	return b.String()
}

// sets are the insides of brackets for \p{name}, by plain names: scripts, categories, properties of
// Unicode and POSIX's classes.
var sets = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Scripts, unicode.Categories, unicode.Properties} {
		for name := range tables {
			m[plainName(name)] = `\p{` + name + `}`
		}
	}
	for long, short := range map[string]string{
		"letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt", "modifierletter": "Lm",
		"otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc", "enclosingmark": "Me", "number": "N",
		"decimalnumber": "Nd", "letternumber": "Nl", "othernumber": "No", "punctuation": "P", "connectorpunctuation": "Pc",
		"dashpunctuation": "Pd", "openpunctuation": "Ps", "closepunctuation": "Pe", "initialpunctuation": "Pi",
		"finalpunctuation": "Pf", "otherpunctuation": "Po", "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc",
		"modifiersymbol": "Sk", "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs", "lineseparator": "Zl",
		"paragraphseparator": "Zp", "control": "Cc", "format": "Cf", "surrogate": "Cs", "privateuse": "Co", "cntrl": "Cc", "digit": "Nd",
	} {
		m[long] = `\p{` + short + `}`
	}
	alphabetic := `\p{L}\p{Nl}\u0363-\u036f` + tableSet(unicode.Other_Alphabetic) // the range since Unicode 16
	graph := `\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}`
	for name, set := range map[string]string{
		"any": `\s\S`, "ascii": `\u0000-\u007f`, "alphabetic": alphabetic, "alpha": alphabetic, "alnum": alphabetic + `\p{Nd}`,
		"upper": `\p{Lu}` + tableSet(unicode.Other_Uppercase), "lower": `\p{Ll}` + tableSet(unicode.Other_Lowercase),
		"punct": `\p{P}`, "space": `\p{White_Space}`, "blank": `\p{Zs}\t`, "word": aloneWord, "xdigit": hexDigits,
		"graph": graph, "print": graph + `\p{Zs}`,
		"[punct": `\p{P}\p{S}`, "[word": setWord, // in double brackets
	} {
		m[name] = set
	}
	m["uppercase"], m["lowercase"] = m["upper"], m["lower"]
	return m
})

const maxClasses = 16 // sets in sets

// class reads a set of characters behind its bracket, and returns an expression of one character.
func (w *rewriter) class(depth int) string {
	if depth > maxClasses {
		w.fail("it has more than %d sets in one another", maxClasses)
		return ""
	}
	negated := w.take("^")
	var all []string // that intersect
	set, others := "", []string(nil)
	end := func() {
		switch {
		case set != "":
			others = append(others, "["+set+"]")
		case others == nil:
			others = []string{"(?!)"}
		}
		all = append(all, union(others))
	}
	if w.take("]") { // as the first one it is a character
		set = `\]`
	}
	for !w.take("]") {
		switch {
		case w.rest == "":
			w.fail("a set lacks its ]")
			return ""
		case w.take("&&"):
			end()
			set, others = "", nil
		case w.posix(&set, &others):
		case w.take("["):
			others = append(others, w.class(depth+1))
		default:
			w.member(&set, &others)
		}
	}
	if len(all) == 0 && len(others) == 0 && negated {
		return "[^" + set + "]"
	}
	end()
	one := all[len(all)-1]
	for _, other := range all[:len(all)-1] {
		one = "(?=" + other + ")" + one
	}
	switch {
	case negated:
		return "(?:(?!" + one + ")" + anyRune + ")"
	case len(all) > 1:
		return "(?:" + one + ")"
	}
	return one
}

func union(sets []string) string {
	if len(sets) == 1 {
		return sets[0]
	}
	return "(?:" + strings.Join(sets, "|") + ")"
}

// posix reads a class such as [:alpha:] in brackets.
func (w *rewriter) posix(set *string, others *[]string) bool {
	name, rest, ok := strings.Cut(strings.TrimPrefix(w.rest, "[:"), ":]")
	plain, negated := strings.CutPrefix(name, "^")
	inner, known := sets()["["+plain]
	if !known {
		inner, known = sets()[plain]
	}
	if !ok || !known || !strings.HasPrefix(w.rest, "[:") {
		return false
	}
	w.rest = rest
	if negated {
		*others = append(*others, "[^"+inner+"]")
	} else {
		*set += inner
	}
	return true
}

// member reads a character, a range of them or an escape in brackets.
func (w *rewriter) member(set *string, others *[]string) {
	lo, single := w.character(set, others)
	if !single {
		return
	}
	if len(w.rest) > 1 && w.rest[0] == '-' && w.rest[1] != ']' && !strings.HasPrefix(w.rest, "-[") && !strings.HasPrefix(w.rest, "-&&") {
		w.rest = w.rest[1:]
		after := ""
		hi, single := w.character(&after, others)
		switch {
		case !single: // a-\d is a, - and \d
			*set += literal(lo) + `\-` + after
		case hi < lo:
			w.fail("a range of characters is empty")
		default:
			*set += literal(lo) + "-" + literal(hi)
		}
		return
	}
	*set += literal(lo)
}

// character reads one character in brackets; a set of them it adds.
func (w *rewriter) character(set *string, others *[]string) (r rune, single bool) {
	r, size := utf8.DecodeRuneInString(w.rest)
	if r != '\\' || len(w.rest) == 1 {
		w.rest = w.rest[size:]
		return r, true
	}
	w.rest = w.rest[1:]
	c := w.rest[0]
	switch c {
	case 'p', 'P':
		if inner, negated := w.property(); negated {
			*others = append(*others, "[^"+inner+"]")
		} else {
			*set += inner
		}
		return 0, false
	case 'x', 'u':
		return w.code(), true
	case 'b':
		w.rest = w.rest[1:]
		return '\b', true
	}
	if r, ok := escapedRunes[c]; ok {
		w.rest = w.rest[1:]
		return r, true
	}
	r, size = utf8.DecodeRuneInString(w.rest)
	w.rest = w.rest[size:]
	switch c {
	case 's', 'd':
		*set += `\` + string(r)
	case 'S', 'D': // regexp2 forgets categories beside them
		*others = append(*others, `\`+string(r))
	case 'w':
		*set += setWord
	case 'h':
		*set += hexDigits
	case 'W':
		*others = append(*others, "[^"+setWord+"]")
	case 'H':
		*others = append(*others, "[^"+hexDigits+"]")
	default:
		return r, true
	}
	return 0, false
}
