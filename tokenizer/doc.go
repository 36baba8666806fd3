// Package tokenizer turns text into the tokens of a model and back. It reads tokenizer.json of
// Hugging Face, tokenizer.model of SentencePiece, vocab.txt, vocab.json with merges.txt, and the
// metadata of GGUF files. Read tokenizer.go first, then load.go and model.go.
//
//	t, err := tokenizer.Open("Llama-3.2-1B")
//	e, err := t.Encode("Hello", nil) // e.IDs are the tokens
//	text := t.Decode(e.IDs, false)
//
// A [Tokenizer] may be used by any number of goroutines. A [Decoder] is for one text.
package tokenizer
