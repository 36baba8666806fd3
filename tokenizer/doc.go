// Package tokenizer turns text into the tokens that language models read, and back, as Hugging
// Face's tokenizers library does.
//
// [Open] reads tokenizer.json, tokenizer.model of SentencePiece, vocab.txt of BERT and vocab.json with merges.txt of
// GPT-2, or a folder with one of them; [FromGGUF] takes the metadata of a GGUF file. A part of a file that is not known
// is an error: without it the tokens would be others. [BPETrainer] and [UnigramTrainer] make vocabularies from texts.
//
// Read tokenizer.go first: it is the way of a text. Then state.go, the pieces of a text; load.go,
// fields.go and components.go, the file; decode.go, the way back. Three packages are below:
// internal/norm changes text and keeps the origins of its bytes, internal/match has the regular
// expressions of splitters, internal/subword the models and trainers.
//
// # The way of a text
//
// A text passes through the parts of tokenizer.json in order: added tokens are found in it, a
// normalizer changes the parts between them, a pre-tokenizer divides these into words, a model divides
// words into tokens, a post-processor adds special tokens. A decoder makes text of tokens. Offsets say
// which characters of the text a token stands for, through all changes.
//
// No text takes time that grows with its square: BPE goes over a word once and checks that each token may follow the
// one before, Unigram finds the best way with a trie, and words that were met before are looked up.
package tokenizer
