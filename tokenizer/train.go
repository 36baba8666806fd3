package tokenizer

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/tokenizer/internal/norm"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// A BPETrainer makes a BPE vocabulary, as Hugging Face's trainer of this name does.
type BPETrainer struct {
	// VocabSize is the number of tokens at which training ends; 0 stands for 30,000.
	VocabSize int
	// MinFrequency is how often a pair must occur to be merged.
	MinFrequency int
	// SpecialTokens come first.
	SpecialTokens []string
	// InitialAlphabet has characters that are tokens even if they do not occur. For byte-level
	// vocabularies ByteAlphabet has all.
	InitialAlphabet []rune
	// LimitAlphabet is the greatest number of characters, of which the most frequent stay; 0: no limit.
	LimitAlphabet int
	// ContinuingSubwordPrefix begins tokens that do not begin a word, EndOfWordSuffix ends those that end
	// one.
	ContinuingSubwordPrefix, EndOfWordSuffix string
	// MaxTokenLength is the greatest length of tokens in characters; 0: no limit.
	MaxTokenLength int
	// Pipeline is a tokenizer.json without a model: how text is normalized, divided and decoded. "" is
	// GPT-2's, byte-level.
	Pipeline string
}

// ByteAlphabet returns the characters that stand for bytes in byte-level vocabularies.
func ByteAlphabet() []rune { return slices.Sorted(slices.Values(norm.ByteRunes[:])) }

const gpt2Pipeline = `{
	"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
	"post_processor": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true},
	"decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}
}`

// pipeline reads the sections of a pipeline, and returns a tokenizer without a model that has them.
func readPipeline(text, absent string) (*spec, error) {
	if text == "" {
		text = absent
	}
	s := &spec{}
	if err := json.Unmarshal([]byte(text), &s.sections); err != nil {
		return nil, errorf("the pipeline should be an object of sections: %w", err)
	}
	for name := range s.sections {
		if !slices.Contains([]string{"normalizer", "pre_tokenizer", "post_processor", "decoder"}, name) {
			return nil, errorf("the pipeline has a section %.40q, which is not known", name)
		}
	}
	return s, nil
}

// countWords divides texts and returns their words, in order.
func (s *spec) countWords(trainer any, texts iter.Seq[string]) ([]subword.WordCount, error) {
	t := &Tokenizer{added: &addedTokens{}}
	err := subword.CheckTrainer(trainer, texts)
	if err == nil {
		t.normalizer, err = readNormalizer("normalizer", s.sections["normalizer"], 0)
	}
	if err == nil {
		t.preTokenizer, err = readPreTokenizer("pre_tokenizer", s.sections["pre_tokenizer"], 0)
	}
	if err != nil {
		return nil, errorf("%w", err)
	}
	counts := map[string]int{}
	var in input
	for text := range texts {
		if err := t.divide(&in, strings.ToValidUTF8(text, "\ufffd")); err != nil {
			return nil, err
		}
		for _, p := range in.pieces {
			counts[in.text.S[p.lo:p.hi]]++
		}
	}
	var words []subword.WordCount
	for _, w := range sortedKeys(counts) {
		words = append(words, subword.WordCount{Word: w, Count: counts[w]})
	}
	return words, nil
}

// finish builds the tokenizer, with the special tokens.
func (s *spec) finish(special []string) (*Tokenizer, error) {
	for _, token := range special {
		s.added = append(s.added, AddedToken{Content: token, Special: true})
	}
	t, err := s.build()
	if err != nil {
		return nil, errorf("%w", err)
	}
	return t, nil
}

// Train returns the tokenizer that it learns from texts, such as the lines of a file.
func (b BPETrainer) Train(texts iter.Seq[string]) (*Tokenizer, error) {
	s, err := readPipeline(b.Pipeline, gpt2Pipeline)
	if err != nil {
		return nil, err
	}
	words, err := s.countWords(b, texts)
	if err != nil {
		return nil, err
	}
	tokens, merges := subword.TrainBPE(subword.BPEOptions{
		VocabSize: cmp.Or(b.VocabSize, 30000), MinFrequency: b.MinFrequency, LimitAlphabet: b.LimitAlphabet, MaxTokenLength: b.MaxTokenLength,
		SpecialTokens: b.SpecialTokens, InitialAlphabet: b.InitialAlphabet,
		ContinuingSubwordPrefix: b.ContinuingSubwordPrefix, EndOfWordSuffix: b.EndOfWordSuffix,
	}, words)
	ids := make(map[string]int32, len(tokens))
	for i, token := range tokens {
		ids[token] = int32(i)
	}
	v, err := subword.NewVocabulary(ids, len(tokens))
	if err != nil {
		return nil, errorf("%w", err)
	}
	s.model = &subword.BPE{Words: v, List: merges, Prefix: b.ContinuingSubwordPrefix, Suffix: b.EndOfWordSuffix}
	return s.finish(b.SpecialTokens)
}

// A UnigramTrainer makes a Unigram vocabulary, as Hugging Face's trainer of this name does: it begins
// with all substrings that occur more than once, estimates their probabilities by expectation
// maximization, and takes away those that are missed least (T. Kudo, Subword Regularization, 2018).
type UnigramTrainer struct {
	// VocabSize is the number of tokens without the special ones; 0 stands for 8,000.
	VocabSize int
	// SubIterations is the number of estimations before tokens are taken away; 0 stands for 2.
	SubIterations int
	// ShrinkingFactor is the share of tokens that stays, below 1; 0 stands for 0.75.
	ShrinkingFactor float64
	// SpecialTokens come first, before them UnknownToken unless it is one of them. Without it, text with
	// characters that did not occur is an error.
	SpecialTokens []string
	UnknownToken  string
	// InitialAlphabet has characters that are tokens even if they do not occur.
	InitialAlphabet []rune
	// MaxPieceLength is the greatest length of tokens in characters; 0 stands for 16.
	MaxPieceLength int
	// SeedSize is the greatest number of tokens at the beginning; 0 stands for 1,000,000.
	SeedSize int
	// Pipeline is a tokenizer.json without a model: how text is normalized, divided and decoded. "" is
	// SentencePiece's, without normalization.
	Pipeline string
}

const metaspacePipeline = `{
	"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
	"decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}
}`

// Train returns the tokenizer that it learns from texts, such as the lines of a file.
func (u UnigramTrainer) Train(texts iter.Seq[string]) (*Tokenizer, error) {
	s, err := readPipeline(u.Pipeline, metaspacePipeline)
	if err != nil {
		return nil, err
	}
	words, err := s.countWords(u, texts)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errorf("there is no text to train on")
	}
	final, unknown := subword.TrainUnigram(subword.UnigramOptions{
		VocabSize: cmp.Or(u.VocabSize, 8000), SubIterations: cmp.Or(u.SubIterations, 2), MaxPieceLength: cmp.Or(u.MaxPieceLength, 16),
		SeedSize: cmp.Or(u.SeedSize, 1000000), ShrinkingFactor: cmp.Or(u.ShrinkingFactor, 0.75),
		SpecialTokens: u.SpecialTokens, UnknownToken: u.UnknownToken, InitialAlphabet: u.InitialAlphabet,
	}, words)
	if s.model, err = subword.NewUnigram(final, unknown, false); err != nil {
		return nil, errorf("%w", err)
	}
	return s.finish(u.SpecialTokens)
}
