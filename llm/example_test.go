package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

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
	var m *llm.Model
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

// A tool, its call by the model, and the answer of the tool, as the model reads them.
func ExampleToolCall() {
	m, err := llm.Open("testdata/chat", &llm.Options{Context: 64})
	if err != nil {
		log.Fatal(err)
	}
	var call llm.ToolCall
	call.Type, call.Function.Name, call.Function.Arguments = "function", "now", json.RawMessage(`{"zone": "UTC"}`)
	o := &llm.ChatOptions{
		Template: "{% for m in messages %}{{ m.role }}: {{ m.tool_calls[0].function.arguments.zone if m.tool_calls else m.content }}\n{% endfor %}",
		Tools:    []json.RawMessage{json.RawMessage(`{"type": "function", "function": {"name": "now"}}`)},
	}
	text, err := m.ChatPrompt([]llm.Message{{Role: "assistant", ToolCalls: []llm.ToolCall{call}}, {Role: "tool", Content: "12:00"}}, o)
	fmt.Print(text, err)
	// Output:
	// assistant: UTC
	// tool: 12:00
	// <nil>
}

// A prompt that is too long is an error with both lengths.
func ExampleContextError() {
	m, err := llm.Open("testdata/chat", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range m.Generate(context.Background(), strings.Repeat("a", 200), nil) {
		var long *llm.ContextError
		fmt.Println(errors.As(err, &long), long.Prompt, long.Context)
	}
	// Output: true 201 128
}

// The end of an answer.
func ExampleEnd() {
	m, err := llm.Open("testdata/chat", nil)
	if err != nil {
		log.Fatal(err)
	}
	var last llm.Token
	for last, err = range m.Generate(context.Background(), "The quick", &llm.GenerateOptions{MaxTokens: 3}) {
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(last.End == llm.EndLength)
	// Output: true
}

// An estimate says how much a model takes before it is opened.
func ExampleEstimate() {
	var e llm.Memory
	e, err := llm.Estimate("testdata/chat", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d KiB of weights, %d bytes a token\n", e.Weights>>10, e.PerToken)
	// Output: 107 KiB of weights, 192 bytes a token
}
