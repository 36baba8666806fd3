package tokenizer

import (
	"sort"
	"unicode/utf8"
)

// A span is a range of bytes of the original text.
type span struct{ lo, hi int32 }

// A run says where bytes of a text come from, from the byte at on: those of a character from the bytes
// lo to hi of the original text; or, if hi is negative, unchanged characters from the bytes from lo on.
type run struct{ at, lo, hi int32 }

// A text is a string on its way to the model. Each of its bytes remembers the bytes of the original
// character that it came from.
type text struct {
	s    string
	runs []run
	off  int32 // of s, in the places of runs
}

func newText(s string) text { return text{s: s, runs: []run{{0, 0, -1}}} }

// runAt returns the index of the run of byte i.
func (t *text) runAt(i int) int {
	if len(t.runs) == 1 {
		return 0
	}
	at := t.off + int32(i)
	return sort.Search(len(t.runs), func(k int) bool { return t.runs[k].at > at }) - 1
}

// origin returns where byte i, of the run r, comes from.
func (t *text) origin(i int, r run) span {
	if r.hi >= 0 {
		return span{r.lo, r.hi}
	}
	lo := i
	for lo > 0 && !utf8.RuneStart(t.s[lo]) {
		lo--
	}
	hi := i + 1
	for hi < len(t.s) && !utf8.RuneStart(t.s[hi]) {
		hi++
	}
	shift := r.lo - r.at + t.off
	return span{int32(lo) + shift, int32(hi) + shift}
}

// at returns where byte i comes from.
func (t *text) at(i int) span { return t.origin(i, t.runs[t.runAt(i)]) }

// slice returns the part from lo to hi.
func (t *text) slice(lo, hi int) text {
	part := text{t.s[lo:hi], t.runs, t.off + int32(lo)}
	if len(t.runs) > 1 {
		part.runs = t.runs[t.runAt(lo):]
	}
	return part
}

// appendRuns appends the runs of the bytes lo to hi of t, which stand at place at now; k is the run
// of lo, and the run of hi is returned.
func appendRuns(runs []run, at int, t *text, lo, hi, k int) ([]run, int) {
	for lo < hi {
		for k+1 < len(t.runs) && t.runs[k+1].at <= t.off+int32(lo) {
			k++
		}
		end := hi
		if k+1 < len(t.runs) {
			end = min(end, int(t.runs[k+1].at-t.off))
		}
		r := t.runs[k]
		if r.hi < 0 {
			r.lo += t.off + int32(lo) - r.at
		}
		r.at = int32(at)
		runs = addRun(runs, r)
		at += end - lo
		lo = end
	}
	return runs, k
}

// addRun appends a run, unless the last one goes on in it.
func addRun(runs []run, r run) []run {
	if n := len(runs); n > 0 {
		last := runs[n-1]
		if last.hi == r.hi && (r.hi >= 0 && last.lo == r.lo || r.hi < 0 && last.lo+r.at-last.at == r.lo) {
			return runs
		}
	}
	return append(runs, r)
}

// A builder makes a text of another one, whose characters it takes in order. Its methods are the
// ways in which Hugging Face's normalizers change text, with the origins that they give.
type builder struct {
	from *text
	pos  int // of the next byte of from that was not taken
	k    int // the run of the byte before it, or an earlier one
	s    []byte
	runs []run
}

func newBuilder(t *text) *builder {
	return &builder{from: t, s: make([]byte, 0, len(t.s)+len(t.s)/8+16), runs: make([]run, 0, len(t.runs)+16)}
}

// keep takes the bytes up to end unchanged: whole characters.
func (b *builder) keep(end int) {
	if end <= b.pos {
		return
	}
	b.runs, b.k = appendRuns(b.runs, len(b.s), b.from, b.pos, end, b.k)
	b.s = append(b.s, b.from.s[b.pos:end]...)
	b.pos = end
}

// at returns where byte i, which is not before the byte before pos, comes from.
func (b *builder) at(i int) span {
	for b.k+1 < len(b.from.runs) && b.from.runs[b.k+1].at <= b.from.off+int32(i) {
		b.k++
	}
	return b.from.origin(i, b.from.runs[b.k])
}

// put appends r. A change of 0 replaces the next character by r, one of -n also removes the n
// characters after it, and 1 inserts r, with the origin of the character before.
func (b *builder) put(r rune, change int) {
	if len(b.s) > maxText {
		return // divide refuses the text
	}
	var v span
	switch {
	case change <= 0 && b.pos < len(b.from.s):
		v = b.at(b.pos)
		b.drop(1 - change)
	case b.pos > 0:
		v = b.from.at(b.pos - 1)
	case len(b.from.s) > 0:
		lo := b.from.at(0).lo
		v = span{lo, lo}
	}
	at := int32(len(b.s))
	b.s = utf8.AppendRune(b.s, r)
	to := run{at, v.lo, v.hi}
	if change == 0 && v.hi-v.lo == int32(len(b.s))-at {
		to.hi = -1 // of one length, so that runs stay long
	}
	b.runs = addRun(b.runs, to)
}

// drop removes the next n characters.
func (b *builder) drop(n int) {
	for ; n > 0 && b.pos < len(b.from.s); n-- {
		b.pos += runeSize(b.from.s[b.pos:])
	}
}

// insert inserts a string, with the origin of the character before.
func (b *builder) insert(s string) {
	for _, r := range s {
		b.put(r, 1)
	}
}

// done returns the text.
func (b *builder) done() text {
	b.keep(len(b.from.s))
	if len(b.runs) == 0 {
		b.runs = append(b.runs, run{})
	}
	return text{s: string(b.s), runs: b.runs}
}
