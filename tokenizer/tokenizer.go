package tokenizer

import (
	"encoding/json"
	"errors"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/tensorken/tensorken/tokenizer/internal/norm"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// A Tokenizer turns text into tokens and back. Its methods may be called from several goroutines.
type Tokenizer struct {
	normalizer   norm.Normalizer
	preTokenizer preTokenizer
	model        subword.Model
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
		if encodings[i], err = t.encodeText(s, int32(i), len(texts) > 1, o); err != nil {
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

// encodeText encodes one text, or one of a pair.
func (t *Tokenizer) encodeText(s string, typeID int32, pair bool, o *EncodeOptions) (*Encoding, error) {
	if len(s) > norm.MaxText {
		return nil, errLong
	}
	if !utf8.ValidString(s) {
		valid, _ := validUTF8([]byte(s), true)
		s = string(valid)
	}
	st, _ := t.states.Get().(*state)
	if st == nil {
		st = &state{words: subword.NewState()}
	}
	defer t.states.Put(st)
	in := &st.in
	if err := t.divide(in, s); err != nil {
		return nil, err
	}
	e := &Encoding{}
	all := st.all[:0]
	for k := range in.pieces {
		p, n := &in.pieces[k], len(all)
		if p.id >= 0 {
			all = append(all, subword.Tok{ID: p.id, Lo: p.lo, Hi: p.hi})
		} else {
			var err error
			if all, err = st.words.Tokenize(t.model, in.text.S[p.lo:p.hi], all); err != nil {
				return nil, errorf("%w", err)
			}
			for i := n; i < len(all); i++ {
				all[i].Lo += p.lo
				all[i].Hi += p.lo
			}
			if pair {
				e.words = append(e.words, [2]int32{int32(n), int32(len(all))})
			}
		}
		p.toks = int32(len(all))
	}
	st.all = all
	e.IDs = make([]int32, len(all))
	for i := range all {
		e.IDs[i] = all[i].ID
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
func (t *Tokenizer) describe(e *Encoding, in *input, all []subword.Tok, s string) {
	n := len(all)
	e.Tokens, e.Offsets = make([]string, n), make([][2]int32, n)
	numbers := make([]int32, 3*n)
	e.TypeIDs, e.AttentionMask, e.SpecialMask = numbers[:n:n], numbers[n:2*n:2*n], numbers[2*n:]
	c := newCounter(s, &in.text)
	names, surface := t.model.Vocab().Tokens, t.model.Surface()
	next := 0 // the piece of the token
	for i, k := range all {
		for in.pieces[next].toks <= int32(i) {
			next++
		}
		if k.ID == surface || in.pieces[next].id >= 0 {
			e.Tokens[i] = in.text.S[k.Lo:k.Hi]
		} else {
			e.Tokens[i] = names[k.ID]
		}
		e.Offsets[i] = c.offsets(k.Lo, k.Hi)
		e.AttentionMask[i] = 1
	}
}

// divide finds added tokens in a text, normalizes the parts between them, and divides these into
// words.
func (t *Tokenizer) divide(in *input, s string) error {
	in.text = norm.NewText(s)
	in.pieces = in.pieces[:0]
	if s != "" {
		in.pieces = append(in.pieces, piece{0, int32(len(s)), -1, 0})
	}
	in.extract(t.added, t.added.plain)
	if t.normalizer != nil {
		if err := in.rewrite(t.normalizer.Normalize); err != nil {
			return errorf("%w", err)
		}
	}
	in.extract(t.added, t.added.own)
	if t.preTokenizer != nil {
		if err := t.preTokenizer.apply(in); err != nil {
			return errorf("%w", err)
		}
	}
	if len(in.text.S) > norm.MaxText {
		return errLong
	}
	return nil
}

// A counter turns places of a text, which mostly go up, into places in runes of the original.
type counter struct {
	starts []int32 // by byte of the original: the characters that begin before it; nil for ASCII
	text   *norm.Text
	k      int // the run of the last place
}

func newCounter(s string, t *norm.Text) counter {
	if norm.IsASCII(s) {
		return counter{text: t}
	}
	starts, n := make([]int32, len(s)+1), int32(0)
	for i := range len(s) {
		starts[i] = n
		if utf8.RuneStart(s[i]) {
			n++
		}
	}
	starts[len(s)] = n
	return counter{starts: starts, text: t}
}

// runOf returns the run of a place, which is near after run k but where tokens share white space.
func (c *counter) runOf(at int32, k int) int {
	for near := k + 16; k < near && c.text.Runs[k].At <= at; k++ {
		if k+1 == len(c.text.Runs) || c.text.Runs[k+1].At > at {
			return k
		}
	}
	return sort.Search(len(c.text.Runs), func(i int) bool { return c.text.Runs[i].At > at }) - 1
}

// offsets returns the characters that the bytes lo to hi of the text come from, whole ones.
func (c *counter) offsets(lo, hi int32) [2]int32 {
	lo, hi = lo+c.text.Off, hi+c.text.Off
	c.k = max(0, c.runOf(lo, c.k))
	first := c.text.Runs[c.k]
	last := c.text.Runs[max(c.k, c.runOf(hi-1, c.k))]
	o := [2]int32{first.Lo}
	if first.Hi < 0 {
		o[0] += lo - first.At
	}
	if o[1] = last.Hi; last.Hi < 0 {
		o[1] = last.Lo + hi - last.At
	}
	if c.starts == nil {
		return o
	}
	o[1] = c.starts[o[1]]
	if first.Hi < 0 {
		return [2]int32{c.starts[o[0]+1] - 1, o[1]}
	}
	return [2]int32{c.starts[o[0]], o[1]}
}

// TokenToID returns the id of a token.
func (t *Tokenizer) TokenToID(token string) (int32, bool) {
	if id, ok := t.added.byContent[token]; ok {
		return id, true
	}
	id, ok := t.model.Vocab().IDs[token]
	return id, ok
}

// IDToToken returns the token of an id.
func (t *Tokenizer) IDToToken(id int32) (string, bool) {
	if a, ok := t.added.byID[id]; ok {
		return a.Content, true
	}
	return t.model.Vocab().Token(id)
}

// VocabSize returns the number of tokens, with the added ones.
func (t *Tokenizer) VocabSize() int {
	n := t.model.Vocab().Size
	for s := range t.added.byContent {
		if _, ok := t.model.Vocab().IDs[s]; !ok {
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
