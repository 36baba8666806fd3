package llm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tensorken/tensorken/llm"
	"github.com/tensorken/tensorken/models/sample"
)

// A chat with a model of 50,000 numbers, which knows a few texts by heart.
func ExampleModel_Chat() {
	m, err := llm.Open("testdata/chat", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	messages := []llm.Message{{Role: "user", Content: "What is a tensor?"}}
	for token, err := range m.Chat(context.Background(), messages, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(token.Text)
	}
	fmt.Println()
	// Output: An array of numbers with a shape.
}

// A text goes on until a text of Stop, with tokens that are drawn.
func ExampleModel_Generate() {
	m, err := llm.Open("testdata/chat", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	o := &llm.GenerateOptions{Settings: sample.Settings{Temperature: 0.5, TopK: 40, MinP: 0.05}, Seed: 1, MaxTokens: 80, Stop: []string{" The end"}}
	for token, err := range m.Generate(context.Background(), "The quick", o) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(token.Text)
		if token.End != "" {
			fmt.Printf("\nended by %s\n", token.End)
		}
	}
	// Output:
	// brown fox jumps over the lazy dog.
	// ended by stop
}

// Embeddings of texts are near to each other where the texts are alike, for a model that has
// learned it: this one has random weights.
func ExampleModel_Embed() {
	m, err := llm.Open("testdata/embed", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	e, err := m.Embed([]string{"a cat", "the dog"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(e), len(e[0]))
	// Output: 2 32
}

// An estimate says what a model takes before it is opened.
func ExampleEstimate() {
	e, err := llm.Estimate("testdata/chat")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d KiB of weights, %d bytes a token\n", e.Weights>>10, e.PerToken)
	// Output: 107 KiB of weights, 192 bytes a token
}
