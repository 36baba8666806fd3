package tokenizer_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/tensorken/tensorken/tokenizer"
)

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

// A Decoder prints what a model writes, token by token, without cutting a character.
func ExampleDecoder() {
	t, err := tokenizer.Open("testdata/gpt2_bpe.json")
	if err != nil {
		log.Fatal(err)
	}
	d := t.Decoder(false)
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
