package models_test

import (
	"fmt"
	"log"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
)

// Load reads a model of any kind. This one is a Llama of two layers with random weights.
func ExampleLoad() {
	m, err := models.Load("testdata/llama_gqa")
	if err != nil {
		log.Fatal(err)
	}
	llama := m.(*models.Llama)
	logits := llama.Apply(tensor.New([]int32{5, 6, 7}, 1, 3))
	fmt.Println(len(llama.Model.Layers), logits.Shape())
	// Output: 2 [1 3 96]
}

// Texts go on at once, or token by token.
func ExampleGenerator() {
	m, err := models.LoadLlama("testdata/llama_gqa")
	if err != nil {
		log.Fatal(err)
	}
	stop, err := models.StopTokens("testdata/llama_gqa")
	if err != nil {
		log.Fatal(err)
	}
	g := models.Generator{Model: m, MaxTokens: 4, Stop: stop}
	texts, err := g.Generate([][]int32{{5, 6, 7}, {17}})
	fmt.Println(len(texts), len(texts[0]), len(texts[1]), err)

	g.RNG, g.Sampling = tensor.NewRNG(1), models.Sampling{Temperature: 0.8, TopP: 0.95}
	n := 0
	for tokens, err := range g.All([][]int32{{5, 6, 7}}) {
		if err != nil {
			log.Fatal(err)
		}
		n += len(tokens)
	}
	fmt.Println(n)
	// Output:
	// 2 4 4 <nil>
	// 4
}

// Proposals of tokens that followed the last ones earlier in the text, and the log-probabilities of
// the tokens.
func ExampleGenerator_Choices() {
	m, err := models.LoadLlama("testdata/llama_gqa")
	if err != nil {
		log.Fatal(err)
	}
	g := models.Generator{Model: m, MaxTokens: 3, NGram: 2, LogProbs: 1}
	for choices, err := range g.Choices([][]int32{{5, 6, 7, 5, 6}}) {
		if err != nil {
			log.Fatal(err)
		}
		var c models.Choice = choices[0]
		var best models.LogProb = c.Top[0]
		fmt.Println(c.ID == best.ID, c.LogProb == best.LogProb)
	}
	// Output:
	// true true
	// true true
	// true true
}

// Embeddings of two texts; the second is shorter.
func ExampleBERT() {
	m, err := models.LoadBERT("testdata/bert")
	if err != nil {
		log.Fatal(err)
	}
	ids := tensor.New([]int32{5, 6, 7, 8, 9, 0}, 2, 3)
	valid := ids.Ne(0)
	fmt.Println(m.Embed(ids, valid, models.MeanPooling).Shape())
	// Output: [2 32]
}
