package sample_test

import (
	"fmt"
	"log"

	"github.com/tensorken/tensorken/models/sample"
	"github.com/tensorken/tensorken/tensor"
)

// The distribution of the next token, after penalties for tokens that the text has.
func ExampleSampler() {
	s, err := sample.New(sample.Settings{PresencePenalty: 1, TopK: 2, Temperature: 1}, 7)
	if err != nil {
		log.Fatal(err)
	}
	candidates, err := s.Distribution([]float32{1, 3, 2.5}, []int32{1})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range candidates {
		var _ sample.Candidate = c
		fmt.Printf("%d %.2f\n", c.ID, c.P)
	}
	fmt.Println(s.Pick(candidates) > 0)
	// Output:
	// 1 0.38
	// 2 0.62
	// true
}

// DRY lowers the token that would repeat 5 6 7; XTC excludes the more probable tokens.
func ExampleSettings() {
	s := sample.Settings{DRY: sample.DRY{Multiplier: 2}, XTC: sample.XTC{Probability: 0.5, Threshold: 0.1}, Temperature: 1}
	fmt.Println(s.Check(), s.OnDevice())
	s = sample.Settings{}
	fmt.Println(s.Choose(tensor.New([]float32{1, 3, 2}, 1, 3), nil))
	_, err := sample.New(sample.Settings{TopP: 2}, 1)
	fmt.Println(err)
	// Output:
	// <nil> false
	// [1]
	// TopP is 2, want a number from 0 to 1
}

func ExampleLogProbs() {
	logits := []float32{0, 2, 1, -1}
	p, top := sample.LogProbs(logits, 2, 2)
	fmt.Printf("token 2: %.3f\n", p)
	for _, t := range top {
		fmt.Printf("token %d: %.3f\n", t.ID, t.LogProb)
	}
	// Output:
	// token 2: -1.440
	// token 1: -0.440
	// token 2: -1.440
}

func ExampleLogProb() {
	_, top := sample.LogProbs([]float32{1, 3}, 0, 1)
	fmt.Printf("token %d: %.2f\n", top[0].ID, top[0].LogProb)
	// Output:
	// token 1: -0.13
}
