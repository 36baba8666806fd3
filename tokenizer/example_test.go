package tokenizer_test

import (
	"fmt"
	"os"
	"slices"

	"github.com/tensorken/tensorken/tokenizer"
)

// open returns a tokenizer of the tests.
func open(name string) *tokenizer.Tokenizer {
	t, err := tokenizer.Open("testdata/" + name)
	if err != nil {
		panic(err)
	}
	return t
}

// must returns the encoding of a text.
func must(e *tokenizer.Encoding, err error) *tokenizer.Encoding {
	if err != nil {
		panic(err)
	}
	return e
}

func ExampleTokenizer() {
	var t *tokenizer.Tokenizer = open("gpt2_bpe.json")
	e := must(t.Encode("The cat", nil))
	fmt.Printf("%q %v\n", e.Tokens, e.Offsets)
	fmt.Printf("%q\n", t.Decode(e.IDs, false))
	// Output:
	// ["T" "he" "Ġc" "at"] [[0 1] [1 3] [3 5] [5 7]]
	// "The cat"
}

// Encoding a pair of texts says which text each token belongs to.
func ExampleEncoding() {
	var e *tokenizer.Encoding = must(open("bert_wordpiece.json").EncodePair("the cat", "a dog", nil))
	for i, token := range e.Tokens {
		fmt.Println(token, e.TypeIDs[i], e.SpecialMask[i])
	}
	// Output:
	// [CLS] 0 1
	// the 0 0
	// c 0 0
	// ##at 0 0
	// [SEP] 0 1
	// a 1 0
	// do 1 0
	// ##g 1 0
	// [SEP] 1 1
}

// Options leave out the model's own tokens, cut texts and fill them up.
func ExampleEncodeOptions() {
	t := open("bert_wordpiece.json")
	e := must(t.Encode("the cat and the dog", &tokenizer.EncodeOptions{
		NoSpecial:  true,
		Truncation: &tokenizer.Truncation{MaxLength: 3, Strategy: tokenizer.LongestFirst},
	}))
	fmt.Println(e.Len(), len(e.Overflow) > 0)
	var left tokenizer.Side = tokenizer.Left
	e = must(t.Encode("the", &tokenizer.EncodeOptions{Padding: &tokenizer.Padding{Length: 5, Side: left, Token: "[PAD]"}}))
	fmt.Println(e.Tokens, e.AttentionMask)
	// Output:
	// 3 true
	// [[PAD] [PAD] [CLS] the [SEP]] [0 0 1 1 1]
}

// A Strategy says which text of a pair is cut.
func ExampleStrategy() {
	t := open("bert_wordpiece.json")
	for _, s := range []tokenizer.Strategy{tokenizer.OnlyFirst, tokenizer.OnlySecond} {
		e := must(t.EncodePair("the the the", "the the the", &tokenizer.EncodeOptions{Truncation: &tokenizer.Truncation{MaxLength: 7, Strategy: s}}))
		fmt.Println(e.TypeIDs)
	}
	// Output:
	// [0 0 0 1 1 1 1]
	// [0 0 0 0 0 1 1]
}

// A Decoder returns text as tokens come, never a part of a character.
func ExampleDecoder() {
	t := open("gpt2_bpe.json")
	var d *tokenizer.Decoder = t.Decoder(false)
	var texts []string
	for _, id := range must(t.Encode("é!", nil)).IDs {
		texts = append(texts, d.Add(id))
	}
	fmt.Printf("%q\n", append(texts, d.Flush()))
	// Output: ["" "é" "!" ""]
}

// Added tokens are found in a text before it is divided.
func ExampleAddedToken() {
	f, err := os.Open("testdata/gpt2_bpe.json")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	t, err := tokenizer.Read(f)
	if err != nil {
		panic(err)
	}
	var end tokenizer.AddedToken = t.AddedTokens()[0]
	fmt.Println(end.ID, end.Content, end.Special)
	// Output: 0 <|endoftext|> true
}

// The metadata of a GGUF file makes a tokenizer.
func ExampleFromGGUF() {
	t, err := tokenizer.FromGGUF(tokenizer.GGUF{
		Model: "bert", Tokens: []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581cat", "s"},
		IDs: map[string]int32{"pad": 0, "unk": 1, "cls": 2, "sep": 3},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(must(t.Encode("cats", nil)).Tokens)
	fmt.Println(slices.Contains(tokenizer.Splitters(), "llama-bpe"))
	// Output:
	// [[CLS] cat ##s [SEP]]
	// true
}
