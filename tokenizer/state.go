package tokenizer

import (
	"github.com/tensorken/tensorken/tokenizer/internal/norm"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// A state is one goroutine's memory for encoding: buffers that are used again, and the words that it
// has met.
type state struct {
	in    input
	all   []subword.Tok
	words *subword.State
}

// A piece is a part of a text: an added token, or text if id is negative. Its tokens end before
// number toks.
type piece struct{ lo, hi, id, toks int32 }

// An input is a text and its pieces, in order.
type input struct {
	text   norm.Text
	pieces []piece
	next   []piece
}

// split replaces each piece of text by those that f adds, without empty ones.
func (in *input) split(f func(s string, add func(lo, hi int)) error) error {
	in.next = in.next[:0]
	base := int32(0)
	add := func(lo, hi int) {
		if lo < hi {
			in.next = append(in.next, piece{base + int32(lo), base + int32(hi), -1, 0})
		}
	}
	for _, p := range in.pieces {
		if p.id >= 0 {
			in.next = append(in.next, p)
			continue
		}
		base = p.lo
		if err := f(in.text.S[p.lo:p.hi], add); err != nil {
			return err
		}
	}
	in.pieces, in.next = in.next, in.pieces
	return nil
}

// extract makes pieces of the added tokens that f finds.
func (in *input) extract(a *addedTokens, f *finder) {
	if f == nil {
		return
	}
	in.next = in.next[:0]
	for _, p := range in.pieces {
		if p.id >= 0 {
			in.next = append(in.next, p)
			continue
		}
		a.split(f, in.text.S[p.lo:p.hi], func(lo, hi int, id int32) {
			in.next = append(in.next, piece{p.lo + int32(lo), p.lo + int32(hi), id, 0})
		})
	}
	in.pieces, in.next = in.next, in.pieces
}

// rewrite changes each piece of text by f.
func (in *input) rewrite(f func(t norm.Text) (norm.Text, error)) error {
	if len(in.pieces) == 1 && in.pieces[0].id < 0 {
		t, err := f(in.text.Slice(int(in.pieces[0].lo), int(in.pieces[0].hi)))
		if err != nil {
			return err
		}
		in.text = t
		in.pieces[0] = piece{0, int32(len(t.S)), -1, 0}
		if t.S == "" {
			in.pieces = in.pieces[:0]
		}
		return nil
	}
	parts := make([]norm.Text, len(in.pieces))
	size := 0
	for i, p := range in.pieces {
		parts[i] = in.text.Slice(int(p.lo), int(p.hi))
		if p.id < 0 {
			var err error
			if parts[i], err = f(parts[i]); err != nil {
				return err
			}
		}
		size += len(parts[i].S)
	}
	all := norm.Text{}
	s := make([]byte, 0, size)
	out := in.pieces[:0]
	for i, p := range in.pieces {
		lo := len(s)
		s = append(s, parts[i].S...)
		all.Runs, _ = norm.AppendRuns(all.Runs, lo, &parts[i], 0, len(parts[i].S), 0)
		if lo < len(s) {
			out = append(out, piece{int32(lo), int32(len(s)), p.id, 0})
		}
	}
	all.S = string(s)
	in.text, in.pieces = all, out
	return nil
}
