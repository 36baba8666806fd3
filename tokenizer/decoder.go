package tokenizer

import "strings"

// Decode returns the text of tokens. Special tokens are left out unless keepSpecial is set, as are
// ids that have no token.
func (t *Tokenizer) Decode(ids []int32, keepSpecial bool) string {
	var b strings.Builder
	d := t.newDecoder(keepSpecial, func(s string) { b.WriteString(s) })
	for _, id := range ids {
		d.push(id)
	}
	d.flush()
	return b.String()
}

// A Decoder returns the text of tokens that come one after the other, such as tokens that a model generates. It never
// cuts a character: text that may still change is held back. The texts, joined, equal Decode's.
type Decoder struct {
	t       *Tokenizer
	keep    bool
	first   bool
	forward func(string)
	end     func()
	out     strings.Builder
}

// Decoder returns a decoder of one text.
func (t *Tokenizer) Decoder(keepSpecial bool) *Decoder {
	d := t.newDecoder(keepSpecial, nil)
	return d
}

func (t *Tokenizer) newDecoder(keep bool, out func(string)) *Decoder {
	d := &Decoder{t: t, keep: keep, first: true}
	if out == nil {
		out = func(s string) { d.out.WriteString(s) }
	}
	if t.decoder == nil {
		d.forward, d.end = out, func() {}
	} else {
		d.forward, d.end = pipeline(t.decoder(), out)
	}
	return d
}

func (d *Decoder) push(id int32) {
	s, ok := d.t.added.shown[id]
	if !ok {
		s, ok = d.t.model.Vocab().Token(id)
	}
	if !ok || !d.keep && d.t.added.special[s] {
		return
	}
	if d.t.decoder == nil && !d.first {
		s = " " + s
	}
	d.first = false
	d.forward(s)
}

func (d *Decoder) flush() { d.end() }

// Add takes a token and returns the text that is complete by it, which may be empty.
func (d *Decoder) Add(id int32) string {
	d.push(id)
	return d.take()
}

// Flush returns the rest of the text. The decoder must not be used again.
func (d *Decoder) Flush() string {
	d.flush()
	return d.take()
}

func (d *Decoder) take() string {
	s := d.out.String()
	d.out.Reset()
	return s
}
