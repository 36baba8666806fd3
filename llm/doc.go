// Package llm runs language models from text to text: a GGUF file, or a folder in Hugging Face's
// layout, with its tokenizer, its chat template and the settings of its makers. Read model.go first,
// then generate.go.
//
//	m, err := llm.Open("Llama-3.2-1B-Instruct", nil)
//	for token, err := range m.Chat(ctx, []llm.Message{{Role: "user", Content: "Why is the sky blue?"}}, nil) {
//		...
//		fmt.Print(token.Text)
//	}
//
// Nothing is cut in silence: a prompt longer than the context is a [*ContextError], and a part of a
// tokenizer or of a template that is not known is an error that names it. The models themselves
// are package models, the choice of tokens is models/sample.
package llm
