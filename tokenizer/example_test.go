package tokenizer_test

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/tokenizer"
)

// open returns a tokenizer of the tests.
func open(name string) *tokenizer.Tokenizer {
	t, err := tokenizer.Open("testdata/" + name)
	if err != nil {
		log.Fatal(err)
	}
	return t
}

// must returns the encoding of a text.
func must(e *tokenizer.Encoding, err error) *tokenizer.Encoding {
	if err != nil {
		log.Fatal(err)
	}
	return e
}

func Example() {
	t, err := tokenizer.Open("testdata/bert_wordpiece.json")
	if err != nil {
		log.Fatal(err)
	}
	e, err := t.Encode("Hello, world!", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.IDs)
	fmt.Println(strings.Join(e.Tokens, " "))
	fmt.Println(e.Offsets)
	fmt.Println(t.Decode(e.IDs, false))
	// Output:
	// [2 50 943 97 16 714 1156 5 3]
	// [CLS] h ##ell ##o , wor ##ld ! [SEP]
	// [[0 0] [0 1] [1 4] [4 5] [5 6] [7 10] [10 12] [12 13] [0 0]]
	// hello, world!
}

// A Decoder prints the text of a model, token by token, without cutting a character.
func ExampleDecoder() {
	d := open("gpt2_bpe.json").Decoder(false)
	for _, id := range []int32{41, 11, 173, 254, 248, 225, 1} {
		fmt.Printf("%q ", d.Add(id))
	}
	fmt.Printf("%q\n", d.Flush())
	// Output:
	// "I" "+" "" "" "" "🙂" "!" ""
}

func ExampleBPETrainer() {
	corpus := strings.SplitSeq("low lower lowest, new newer newest; low and new", " ")
	t, err := tokenizer.BPETrainer{VocabSize: 24}.Train(corpus)
	if err != nil {
		log.Fatal(err)
	}
	e, err := t.Encode("lower and newest", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", e.Tokens)
	// Output: ["lower" "an" "d" "newest"]
}

// A Unigram vocabulary writes the start of a word as ▁.
func ExampleUnigramTrainer() {
	corpus := strings.SplitSeq("low lower lowest newer newest widest wider", " ")
	t, err := tokenizer.UnigramTrainer{VocabSize: 24}.Train(corpus)
	if err != nil {
		log.Fatal(err)
	}
	e := must(t.Encode("lower widest", nil))
	fmt.Printf("%q %q\n", e.Tokens, t.Decode(e.IDs, false))
	// Output: ["▁lowe" "r" "▁wide" "s" "t"] "lower widest"
}

// A byte-level vocabulary writes bytes as characters: a space as Ġ.
func ExampleByteAlphabet() {
	alphabet := tokenizer.ByteAlphabet()
	fmt.Println(len(alphabet), string(alphabet[:4]), slices.Contains(alphabet, 'Ġ'))
	// Output: 256 !"#$ true
}

func ExampleTokenizer() {
	t := open("gpt2_bpe.json")
	id, ok := t.TokenToID("Ġc")
	token, _ := t.IDToToken(id)
	fmt.Println(t.VocabSize(), ok, token)
	e := must(t.Encode("The cat", nil))
	fmt.Printf("%q %v %q\n", e.Tokens, e.Offsets, t.Decode(e.IDs, false))
	// Output:
	// 1500 true Ġc
	// ["T" "he" "Ġc" "at"] [[0 1] [1 3] [3 5] [5 7]] "The cat"
}

// The encoding of a pair of texts says to which text each token belongs.
func ExampleEncoding() {
	e := must(open("bert_wordpiece.json").EncodePair("the cat", "a dog", nil))
	fmt.Println(e.Tokens)
	fmt.Println(e.TypeIDs, e.SpecialMask)
	// Output:
	// [[CLS] the c ##at [SEP] a do ##g [SEP]]
	// [0 0 0 0 0 1 1 1 1] [1 0 0 0 1 0 0 0 1]
}

// Options leave out the model's own tokens, cut texts and fill them up.
func ExampleEncodeOptions() {
	t := open("bert_wordpiece.json")
	e := must(t.Encode("the cat and the dog", &tokenizer.EncodeOptions{
		NoSpecial: true, Truncation: &tokenizer.Truncation{MaxLength: 3},
	}))
	fmt.Println(e.Tokens, e.Overflow[0].Tokens)
	e = must(t.Encode("the", &tokenizer.EncodeOptions{Padding: &tokenizer.Padding{Length: 5, Side: tokenizer.Left, Token: "[PAD]"}}))
	fmt.Println(e.Tokens, e.AttentionMask)
	// Output:
	// [the c ##at] [and the do]
	// [[PAD] [PAD] [CLS] the [SEP]] [0 0 1 1 1]
}

// A Side is the end of a text at which tokens are cut off.
func ExampleSide() {
	t := open("bert_wordpiece.json")
	for _, side := range []tokenizer.Side{tokenizer.Right, tokenizer.Left} {
		e := must(t.Encode("the cat and the dog", &tokenizer.EncodeOptions{Truncation: &tokenizer.Truncation{MaxLength: 5, Side: side}}))
		fmt.Println(e.Tokens)
	}
	// Output:
	// [[CLS] the c ##at [SEP]]
	// [[CLS] the do ##g [SEP]]
}

// A Strategy says which text of a pair is cut.
func ExampleStrategy() {
	t := open("bert_wordpiece.json")
	for _, s := range []tokenizer.Strategy{tokenizer.LongestFirst, tokenizer.OnlyFirst, tokenizer.OnlySecond} {
		e := must(t.EncodePair("the the the", "the the the", &tokenizer.EncodeOptions{Truncation: &tokenizer.Truncation{MaxLength: 7, Strategy: s}}))
		fmt.Println(e.TypeIDs)
	}
	// Output:
	// [0 0 0 0 1 1 1]
	// [0 0 0 1 1 1 1]
	// [0 0 0 0 0 1 1]
}

// Added tokens are found in a text before it is divided.
func ExampleAddedToken() {
	f, err := os.Open("testdata/gpt2_bpe.json")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	t, err := tokenizer.Read(f)
	if err != nil {
		log.Fatal(err)
	}
	end := t.AddedTokens()[0]
	fmt.Println(end.ID, end.Content, end.Special)
	fmt.Printf("%q\n", must(t.Encode("I<|endoftext|>", nil)).Tokens)
	// Output:
	// 0 <|endoftext|> true
	// ["I" "<|endoftext|>"]
}

// The metadata of a GGUF file makes a tokenizer.
func ExampleFromGGUF() {
	t, err := tokenizer.FromGGUF(tokenizer.GGUF{
		Model: "bert", Tokens: []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁cat", "s"},
		IDs: map[string]int32{"pad": 0, "unk": 1, "cls": 2, "sep": 3},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(must(t.Encode("cats", nil)).Tokens)
	fmt.Println(slices.Contains(tokenizer.Splitters(), "llama-bpe"))
	// Output:
	// [[CLS] cat ##s [SEP]]
	// true
}
