package models

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A Decoder predicts the next token of texts: *[GPT2], *[Llama], *[WhisperDecoder] and
// *[T5Decoder]. One with a limit to the length of texts also has a method Positions() int, as
// *GPT2 has, and [Generator] checks it.
type Decoder interface {
	// NewCache returns an empty cache of length positions.
	NewCache(batch, length int) Cache
	// Decode maps the next tokens of each text, [batch time] integers, to [batch time width],
	// and returns the cache with them.
	Decode(ids tensor.Tensor, c Cache) (tensor.Tensor, Cache)
	// Logits maps the result of Decode, or a part of it, to [... vocabulary].
	Logits(x tensor.Tensor) tensor.Tensor
}

// logits returns the head's result for x, or the product with the embeddings of tokens if
// these are its weight.
func logits(x tensor.Tensor, head *nn.Linear, tied bool, tokens nn.Embedding) tensor.Tensor {
	switch {
	case tied:
		return nn.Linear{Weight: tokens.Weight}.Apply(x)
	case head == nil:
		fail("Logits", "the model was read from a file without lm_head.weight, and config.json does not tie it to the embeddings")
	}
	return head.Apply(x)
}

// withHead returns the layout of a model whose head is named, and tied to the embeddings or not.
func (l layout) withHead(name string, tied bool) layout {
	if tied {
		l.skip = append(l.skip, name+".weight")
	} else {
		l.head = name + ".weight"
	}
	return l
}

// divides returns an error unless n divides the size.
func (c config) divides(name string, n int, of string, size int) error {
	if n < 1 || size%n != 0 {
		return c.errorf("%s is %d, which does not divide %s, %d", name, n, of, size)
	}
	return nil
}

// fail panics with a *tensor.Error that points at the caller of the model.
func fail(op, msg string) { tensor.Internal.Misuse(graph.Token{}, "models."+op, msg) }
