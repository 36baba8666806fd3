package gpt

import (
	"fmt"
	"slices"
)

// A Vocabulary has the characters of a text, each of which is a token.
type Vocabulary []rune

// NewVocabulary returns the characters of a text.
func NewVocabulary(text string) Vocabulary {
	v := Vocabulary(text)
	slices.Sort(v)
	return slices.Compact(v)
}

// Encode returns the positions of characters in the vocabulary.
func (v Vocabulary) Encode(text string) (ids []int32, err error) {
	for _, r := range text {
		i, ok := slices.BinarySearch(v, r)
		if !ok {
			return nil, fmt.Errorf("the text to learn has no %q", r)
		}
		ids = append(ids, int32(i))
	}
	return ids, nil
}

// Decode returns the text of tokens.
func (v Vocabulary) Decode(ids []int32) string {
	var text []rune
	for _, i := range ids {
		text = append(text, v[i])
	}
	return string(text)
}
