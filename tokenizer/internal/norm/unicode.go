package norm

import (
	"sort"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The normalization forms of Unicode.
var (
	NFD  = form{norm.NFD, false}
	NFC  = form{norm.NFC, true}
	NFKD = form{norm.NFKD, false}
	NFKC = form{norm.NFKC, true}
)

// A form is a normalization form. Package norm decomposes characters; the algorithm is written
// here, because origins must follow the characters, and because norm breaks long rows of
// combining marks.
type form struct {
	norm    norm.Form
	compose bool
}

// A mark is a character of a decomposed text, with its combining class and the change that
// builder.put takes.
type mark struct {
	r      rune
	class  uint8
	change int
}

func (f form) Normalize(t Text) (Text, error) {
	if f.norm.QuickSpanString(t.S) == len(t.S) {
		return t, nil
	}
	b := newBuilder(&t)
	var marks []mark
	for pos := 0; pos < len(t.S); {
		if n := f.norm.QuickSpanString(t.S[pos:]); n > 0 {
			pos += n
			b.keep(pos)
			continue
		}
		end := f.boundary(t.S, pos)
		marks = f.decompose(marks[:0], t.S[pos:end])
		if f.compose {
			marks = recompose(marks)
		}
		for _, m := range marks {
			b.put(m.r, m.change)
		}
		b.pos = end
		pos = end
	}
	return b.done(), nil
}

// boundary returns the end of the characters from pos on that may combine with one another.
func (f form) boundary(s string, pos int) int {
	for i := pos; i < len(s); {
		p := f.norm.PropertiesString(s[i:])
		if i > pos && p.BoundaryBefore() {
			return i
		}
		i += max(1, p.Size())
	}
	return len(s)
}

// decompose appends the decomposition of s, marks in the order of their classes.
func (f form) decompose(marks []mark, s string) []mark {
	for i := 0; i < len(s); {
		p := f.norm.PropertiesString(s[i:])
		size := max(1, p.Size())
		d := string(p.Decomposition())
		if d == "" {
			d = s[i : i+size]
			if r, _ := utf8.DecodeRuneInString(d); hangulBase <= r && r < hangulEnd {
				d = norm.NFD.String(d)
			}
		}
		for j, r := range d {
			class := uint8(0)
			if r >= firstMark {
				class = norm.NFD.PropertiesString(d[j:]).CCC()
			}
			marks = append(marks, mark{r, class, min(j, 1)})
		}
		i += size
	}
	for i := 0; i < len(marks); { // canonical order
		if marks[i].class == 0 {
			i++
			continue
		}
		j := i
		for j < len(marks) && marks[j].class != 0 {
			j++
		}
		row := marks[i:j]
		sort.SliceStable(row, func(a, b int) bool { return row[a].class < row[b].class })
		i = j
	}
	return marks
}

// firstMark is the first character that has a combining class, or joins the character before it.
const firstMark = 0x300

const hangulBase, hangulEnd = 0xac00, 0xac00 + 11172

// recompose joins characters in place, as the standard says. The change of a joined one counts its parts'
// bytes.
func recompose(marks []mark) []mark {
	out := marks[:0]
	starter := -1
	var last int // class of the character before, of those behind the starter; -1 at once behind it
	for _, m := range marks {
		if starter >= 0 && last < int(m.class) {
			if r, ok := composed(out[starter].r, m.r); ok {
				out[starter].r = r
				out[starter].change += m.change - 1
				continue
			}
		}
		if m.class == 0 {
			starter, last = len(out), -1
		} else {
			last = int(m.class)
		}
		out = append(out, m)
	}
	return out
}

// composed returns the character that is a and b joined.
func composed(a, b rune) (rune, bool) {
	if b < firstMark {
		return 0, false
	}
	var buf [2 * utf8.UTFMax]byte
	pair := utf8.AppendRune(utf8.AppendRune(buf[:0], a), b)
	if norm.NFC.Properties(pair[utf8.RuneLen(a):]).BoundaryBefore() {
		return 0, false
	}
	joined := norm.NFC.Bytes(pair)
	r, n := utf8.DecodeRune(joined)
	return r, n == len(joined) && n > 0
}
