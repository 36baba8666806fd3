// Package vocabulary has the files by which a language model reads texts, its tokenizer and its chat templates: in
// a folder of Hugging Face's layout, and in the metadata of a GGUF file, tokenizer.*. Read meta.go first.
package vocabulary
