package tokenizer

import (
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// A Tokenizer turns text into tokens and back. Its methods may be called from several goroutines.
type Tokenizer struct {
	normalizer   normalizer
	preTokenizer preTokenizer
	model        model
	processor    processor
	decoder      decoder
	added        *addedTokens
	truncation   *Truncation
	padding      *Padding
	names        map[string]string // of special tokens, by role
	sections     map[string]json.RawMessage
	states       sync.Pool
}

// EncodeOptions are the options of Encode. A nil pointer is all zeros.
type EncodeOptions struct {
	// NoSpecial leaves out the tokens that the model wants around a text.
	NoSpecial bool
	// IDsOnly leaves all slices but IDs empty, which is faster.
	IDsOnly bool
	// Truncation and Padding take the place of the file's.
	Truncation *Truncation
	Padding    *Padding
	// NoTruncation and NoPadding leave out the file's.
	NoTruncation, NoPadding bool
}

// maxText is the greatest length of a text, normalized too, in bytes: offsets have 32 bits.
const maxText = math.MaxInt32 / 8

var errLong = errors.New("tokenizer: the text has more than 256 MiB: encode it in parts")

// Encode returns the tokens of a text. Bytes that are no UTF-8 are replaced by U+FFFD, as other
// languages do when they read text, and offsets count the text with it.
func (t *Tokenizer) Encode(text string, o *EncodeOptions) (*Encoding, error) {
	e, err := t.encode([]string{text}, orDefault(o))
	if err == nil {
		t.padAll([]*Encoding{e}, orDefault(o))
	}
	return e, err
}

// EncodePair returns the tokens of two texts, such as a question and a passage, joined as the model
// wants them.
func (t *Tokenizer) EncodePair(first, second string, o *EncodeOptions) (*Encoding, error) {
	e, err := t.encode([]string{first, second}, orDefault(o))
	if err == nil {
		t.padAll([]*Encoding{e}, orDefault(o))
	}
	return e, err
}

// EncodeBatch returns the tokens of texts, encoded on all processors. If there is padding, all are of
// one length.
func (t *Tokenizer) EncodeBatch(texts []string, o *EncodeOptions) ([]*Encoding, error) {
	out, errs := make([]*Encoding, len(texts)), make([]error, len(texts))
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(texts)) {
		group.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(texts); i = next.Add(1) - 1 {
				out[i], errs[i] = t.encode([]string{texts[i]}, orDefault(o))
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	t.padAll(out, orDefault(o))
	return out, nil
}

func orDefault(o *EncodeOptions) *EncodeOptions {
	if o == nil {
		return &EncodeOptions{}
	}
	return o
}

// encode encodes one or two texts, without padding.
func (t *Tokenizer) encode(texts []string, o *EncodeOptions) (*Encoding, error) {
	encodings := make([]*Encoding, len(texts))
	for i, s := range texts {
		var err error
		if encodings[i], err = t.encodeText(s, int32(i), o); err != nil {
			return nil, err
		}
	}
	truncation := t.truncation
	if o.NoTruncation {
		truncation = nil
	}
	if o.Truncation != nil {
		truncation = o.Truncation
	}
	if truncation != nil {
		added := 0
		if t.processor != nil && !o.NoSpecial {
			added = t.processor.added(len(texts) > 1)
		}
		if err := truncation.apply(encodings, added); err != nil {
			return nil, err
		}
	}
	for i, e := range encodings {
		e.setTypes(int32(i))
	}
	if t.processor != nil {
		encodings = t.processor.process(encodings, !o.NoSpecial)
	}
	if len(encodings) == 0 {
		return &Encoding{}, nil
	}
	e := encodings[0]
	for _, f := range encodings[1:] {
		e.add(f)
	}
	return e, nil
}

// padAll pads a batch.
func (t *Tokenizer) padAll(batch []*Encoding, o *EncodeOptions) {
	padding := t.padding
	if o.NoPadding {
		padding = nil
	}
	if o.Padding != nil {
		padding = o.Padding
	}
	if padding == nil {
		return
	}
	longest := 0
	for _, e := range batch {
		longest = max(longest, e.Len())
	}
	for _, e := range batch {
		padding.pad(e, padding.length(longest))
	}
}

// encodeText encodes one text.
func (t *Tokenizer) encodeText(s string, typeID int32, o *EncodeOptions) (*Encoding, error) {
	if len(s) > maxText {
		return nil, errLong
	}
	if !utf8.ValidString(s) {
		valid, _ := validUTF8([]byte(s), true)
		s = string(valid)
	}
	st, _ := t.states.Get().(*state)
	if st == nil {
		st = newState()
	}
	defer t.states.Put(st)
	in := &st.in
	if err := t.divide(in, s); err != nil {
		return nil, err
	}
	all := st.all[:0]
	for _, p := range in.pieces {
		if p.id >= 0 {
			all = append(all, tok{p.id, p.lo, p.hi})
			continue
		}
		n := len(all)
		var err error
		if all, err = st.tokenize(t.model, in.text.s[p.lo:p.hi], all); err != nil {
			return nil, errorf("%w", err)
		}
		for i := n; i < len(all); i++ {
			all[i].lo += p.lo
			all[i].hi += p.lo
		}
	}
	st.all = all
	e := &Encoding{IDs: make([]int32, len(all))}
	for i := range all {
		e.IDs[i] = all[i].id
	}
	if !o.IDsOnly {
		t.describe(e, in, all, s)
		for i := range e.TypeIDs {
			e.TypeIDs[i] = typeID
		}
	}
	return e, nil
}

// describe fills an encoding of a text s with all but the ids.
func (t *Tokenizer) describe(e *Encoding, in *input, all []tok, s string) {
	n := len(all)
	e.Tokens, e.Offsets = make([]string, n), make([][2]int32, n)
	numbers := make([]int32, 3*n)
	e.TypeIDs, e.AttentionMask, e.SpecialMask = numbers[:n:n], numbers[n:2*n:2*n], numbers[2*n:]
	c := newCounter(s, &in.text)
	names, surface := t.model.vocab().tokens, t.model.surface()
	next := 0 // the first piece that does not end before the token
	for i, k := range all {
		for in.pieces[next].hi <= k.lo && next+1 < len(in.pieces) {
			next++
		}
		if k.id == surface || in.pieces[next].id >= 0 {
			e.Tokens[i] = in.text.s[k.lo:k.hi]
		} else {
			e.Tokens[i] = names[k.id]
		}
		e.Offsets[i] = c.offsets(k.lo, k.hi)
		e.AttentionMask[i] = 1
	}
}

// divide finds added tokens in a text, normalizes the parts between them, and divides these into
// words.
func (t *Tokenizer) divide(in *input, s string) error {
	in.text = newText(s)
	in.pieces = in.pieces[:0]
	if s != "" {
		in.pieces = append(in.pieces, piece{0, int32(len(s)), -1})
	}
	in.extract(t.added, t.added.plain)
	if t.normalizer != nil {
		if err := in.rewrite(t.normalizer.normalize); err != nil {
			return errorf("%w", err)
		}
	}
	in.extract(t.added, t.added.own)
	if t.preTokenizer != nil {
		if err := t.preTokenizer.apply(in); err != nil {
			return errorf("%w", err)
		}
	}
	if len(in.text.s) > maxText {
		return errLong
	}
	return nil
}

// A counter turns places of a text, which go up, into places in runes of the original.
type counter struct {
	starts []int32 // by byte of the original: the characters that begin before it; nil for ASCII
	text   *text
	k      int // the run of the last place
}

func newCounter(s string, t *text) counter {
	if isASCII(s) {
		return counter{text: t}
	}
	starts := make([]int32, len(s)+1)
	n := int32(0)
	for i := range len(s) {
		starts[i] = n
		if utf8.RuneStart(s[i]) {
			n++
		}
	}
	starts[len(s)] = n
	return counter{starts: starts, text: t}
}

// runOf returns the run of a place, not before run k.
func (c *counter) runOf(at int32, k int) int {
	for k+1 < len(c.text.runs) && c.text.runs[k+1].at <= at {
		k++
	}
	return k
}

// offsets returns the characters that the bytes lo to hi of the text come from, whole ones.
func (c *counter) offsets(lo, hi int32) [2]int32 {
	lo, hi = lo+c.text.off, hi+c.text.off
	c.k = c.runOf(lo, c.k)
	first := c.text.runs[c.k]
	last := c.text.runs[c.runOf(hi-1, c.k)]
	var o [2]int32
	if o[0] = first.lo; first.hi < 0 {
		o[0] += lo - first.at
	}
	if o[1] = last.hi; last.hi < 0 {
		o[1] = last.lo + hi - last.at
	}
	if c.starts == nil {
		return o
	}
	o[1] = c.starts[o[1]]
	if first.hi < 0 {
		return [2]int32{c.starts[o[0]+1] - 1, o[1]}
	}
	return [2]int32{c.starts[o[0]], o[1]}
}

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

// A Decoder returns the text of tokens that come one after the other, such as tokens that a model
// generates. It never cuts a character: text that may still change is held back. The texts,
// joined, equal Decode's.
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
		s, ok = d.t.model.vocab().token(id)
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

// TokenToID returns the id of a token.
func (t *Tokenizer) TokenToID(token string) (int32, bool) {
	if id, ok := t.added.byContent[token]; ok {
		return id, true
	}
	id, ok := t.model.vocab().ids[token]
	return id, ok
}

// IDToToken returns the token of an id.
func (t *Tokenizer) IDToToken(id int32) (string, bool) {
	if a, ok := t.added.byID[id]; ok {
		return a.Content, true
	}
	return t.model.vocab().token(id)
}

// VocabSize returns the number of tokens, with the added ones.
func (t *Tokenizer) VocabSize() int {
	n := t.model.vocab().size
	for s := range t.added.byContent {
		if _, ok := t.model.vocab().ids[s]; !ok {
			n++
		}
	}
	return n
}

// AddedTokens returns the added tokens, by id.
func (t *Tokenizer) AddedTokens() []AddedToken {
	return append([]AddedToken(nil), t.added.list...)
}

// Special returns the special token of a role: bos, eos, unk, sep, pad, cls or mask.
func (t *Tokenizer) Special(role string) (token string, id int32, ok bool) {
	if token, ok = t.names[role]; !ok {
		return "", 0, false
	}
	id, ok = t.TokenToID(token)
	return token, id, ok
}

func newState() *state { return &state{words: newWordCache()} }
