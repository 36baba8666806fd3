// Package norm normalizes text, and keeps for each byte of it the characters of the original that it
// came from.
package norm

import (
	"math"
	"sort"
	"unicode/utf8"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
)

// MaxText is the greatest length of a text in bytes: origins have 32 bits.
const MaxText = math.MaxInt32 / 8

// A Span is a range of bytes of the original text.
type Span struct{ Lo, Hi int32 }

// A Run says where the bytes of a text come from, from the byte At on: all from the bytes Lo to Hi of the
// original text; or, if Hi is negative, from the bytes from Lo on, unchanged.
type Run struct{ At, Lo, Hi int32 }

// A Text is a string on its way to the model. Each of its bytes remembers the bytes of the original
// character that it came from.
type Text struct {
	S    string
	Runs []Run
	Off  int32 // of S, in the places of Runs
}

func NewText(s string) Text { return Text{S: s, Runs: []Run{{0, 0, -1}}} }

// runAt returns the index of the run of byte i.
func (t *Text) runAt(i int) int {
	if len(t.Runs) == 1 {
		return 0
	}
	at := t.Off + int32(i)
	return sort.Search(len(t.Runs), func(k int) bool { return t.Runs[k].At > at }) - 1
}

// origin returns where byte i, of the run r, comes from.
func (t *Text) origin(i int, r Run) Span {
	if r.Hi >= 0 {
		return Span{r.Lo, r.Hi}
	}
	lo := i
	for lo > 0 && !utf8.RuneStart(t.S[lo]) {
		lo--
	}
	hi := i + 1
	for hi < len(t.S) && !utf8.RuneStart(t.S[hi]) {
		hi++
	}
	shift := r.Lo - r.At + t.Off
	return Span{int32(lo) + shift, int32(hi) + shift}
}

// At returns where byte i comes from.
func (t *Text) At(i int) Span { return t.origin(i, t.Runs[t.runAt(i)]) }

// Slice returns the part from lo to hi.
func (t *Text) Slice(lo, hi int) Text {
	part := Text{t.S[lo:hi], t.Runs, t.Off + int32(lo)}
	if len(t.Runs) > 1 {
		part.Runs = t.Runs[t.runAt(lo):]
	}
	return part
}

// AppendRuns appends the runs of the bytes lo to hi of t, which stand at place at now; k is the run
// of lo, and the run of hi is returned.
func AppendRuns(runs []Run, at int, t *Text, lo, hi, k int) ([]Run, int) {
	for lo < hi {
		for k+1 < len(t.Runs) && t.Runs[k+1].At <= t.Off+int32(lo) {
			k++
		}
		end := hi
		if k+1 < len(t.Runs) {
			end = min(end, int(t.Runs[k+1].At-t.Off))
		}
		r := t.Runs[k]
		if r.Hi < 0 {
			r.Lo += t.Off + int32(lo) - r.At
		}
		r.At = int32(at)
		runs = addRun(runs, r)
		at += end - lo
		lo = end
	}
	return runs, k
}

// addRun appends a run, unless the last one goes on in it.
func addRun(runs []Run, r Run) []Run {
	if n := len(runs); n > 0 {
		last := runs[n-1]
		if last.Hi == r.Hi && (r.Hi >= 0 && last.Lo == r.Lo || r.Hi < 0 && last.Lo+r.At-last.At == r.Lo) {
			return runs
		}
	}
	return append(runs, r)
}

// A builder makes a text of another one, whose characters it takes in order. Its methods are the
// ways in which Hugging Face's normalizers change text, with the origins that they give.
type builder struct {
	from *Text
	pos  int // of the next byte of from that was not taken
	k    int // the run of the byte before it, or an earlier one
	s    []byte
	runs []Run
}

func newBuilder(t *Text) *builder {
	return &builder{from: t, s: make([]byte, 0, len(t.S)+len(t.S)/8+16), runs: make([]Run, 0, len(t.Runs)+16)}
}

// keep takes the bytes up to end unchanged: whole characters.
func (b *builder) keep(end int) {
	if end <= b.pos {
		return
	}
	b.runs, b.k = AppendRuns(b.runs, len(b.s), b.from, b.pos, end, b.k)
	b.s = append(b.s, b.from.S[b.pos:end]...)
	b.pos = end
}

// At returns where byte i, which is not before the byte before pos, comes from.
func (b *builder) At(i int) Span {
	for b.k+1 < len(b.from.Runs) && b.from.Runs[b.k+1].At <= b.from.Off+int32(i) {
		b.k++
	}
	return b.from.origin(i, b.from.Runs[b.k])
}

// put appends r. A change of 0 replaces the next character by r, one of -n also removes the n
// characters after it, and 1 inserts r, with the origin of the character before.
func (b *builder) put(r rune, change int) {
	if len(b.s) > MaxText {
		return // divide refuses the text
	}
	var v Span
	switch {
	case change <= 0 && b.pos < len(b.from.S):
		v = b.At(b.pos)
		b.drop(1 - change)
	case b.pos > 0:
		v = b.from.At(b.pos - 1)
	case len(b.from.S) > 0:
		lo := b.from.At(0).Lo
		v = Span{lo, lo}
	}
	at := int32(len(b.s))
	b.s = utf8.AppendRune(b.s, r)
	to := Run{at, v.Lo, v.Hi}
	if change == 0 && v.Hi-v.Lo == int32(len(b.s))-at {
		to.Hi = -1 // of one length, so that runs stay long
	}
	b.runs = addRun(b.runs, to)
}

// drop removes the next n characters.
func (b *builder) drop(n int) {
	for ; n > 0 && b.pos < len(b.from.S); n-- {
		b.pos += match.RuneSize(b.from.S[b.pos:])
	}
}

// insert inserts a string, with the origin of the character before.
func (b *builder) insert(s string) {
	for _, r := range s {
		b.put(r, 1)
	}
}

// done returns the text.
func (b *builder) done() Text {
	b.keep(len(b.from.S))
	if len(b.runs) == 0 {
		b.runs = append(b.runs, Run{})
	}
	return Text{S: string(b.s), Runs: b.runs}
}
