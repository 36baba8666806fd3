package main

import (
	"fmt"
	"slices"
)

// A vocabulary has the characters of a text, each of which is a token.
type vocabulary []rune

func newVocabulary(text string) vocabulary {
	v := vocabulary(text)
	slices.Sort(v)
	return slices.Compact(v)
}

// encode returns the positions of characters in the vocabulary.
func (v vocabulary) encode(text string) (ids []int32, err error) {
	for _, r := range text {
		i, ok := slices.BinarySearch(v, r)
		if !ok {
			return nil, fmt.Errorf("the text to learn has no %q", r)
		}
		ids = append(ids, int32(i))
	}
	return ids, nil
}

func (v vocabulary) decode(ids []int32) string {
	var text []rune
	for _, i := range ids {
		text = append(text, v[i])
	}
	return string(text)
}
