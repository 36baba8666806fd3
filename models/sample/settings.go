// Package sample chooses the next token of a text from a model's logits. Settings have the steps
// and their order, chain.go runs them on the host in float64, and device.go runs those that need no
// text where the logits are.
//
//	s, err := sample.New(sample.Settings{TopK: 40, TopP: 0.95, Temperature: 0.8}, seed)
//	candidates, err := s.Distribution(logits, text)
//	next := s.Pick(candidates)
package sample

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/limits"
)

// Settings say how the next token is chosen. The zero value takes the most probable one. The steps
// run in the order of the fields, which is llama.cpp's: each sees the tokens that the one before
// left. Without a Temperature, only those up to DRY have an effect.
type Settings struct {
	Bias map[int32]float64 // is added to the logits of tokens; -Inf forbids a token

	// RepetitionPenalty divides positive logits, and multiplies others, of tokens that the text
	// has; 0 and 1 are off. FrequencyPenalty times the number of times that the text has the token
	// is subtracted, and PresencePenalty once. They read the last PenaltyWindow tokens; 0 is all.
	//
	// Source: Keskar et al., "CTRL: A Conditional Transformer Language Model for Controllable
	// Generation", 2019.
	RepetitionPenalty, FrequencyPenalty, PresencePenalty float64
	PenaltyWindow                                        int

	DRY     DRY
	TopK    int     // the TopK most probable tokens; 0 is all
	Typical float64 // tokens whose information is nearest to the entropy, up to this probability; 0 is all
	TopP    float64 // the most probable tokens up to this probability; 0 is all
	MinP    float64 // tokens at least MinP times as probable as the most probable
	XTC     XTC

	Temperature float64 // divides the logits; 0 takes the most probable token
}

// DRY subtracts Multiplier·Base^(n-Allowed) from the logit of a token that would make a repetition
// longer: the n tokens before it, at least Allowed, are the last n of the text. A repetition has no
// token of Breakers.
type DRY struct {
	Multiplier float64 // 0 is off
	Base       float64 // 0 is 1.75
	Allowed    int     // 0 is 2
	Window     int     // of the last tokens, in which earlier occurrences are looked for; 0 is all
	Breakers   []int32
}

// XTC excludes top choices: with a Probability, all tokens at least as probable as Threshold but
// the least probable of them.
type XTC struct{ Probability, Threshold float64 }

// Check returns an error for a value that has no meaning.
func (s Settings) Check() error {
	for _, f := range []struct {
		name string
		x    float64
		limits.Limits
	}{
		{"Temperature", s.Temperature, limits.NotNegative}, {"TopK", float64(s.TopK), limits.NotNegative}, {"TopP", s.TopP, limits.AtMostOne},
		{"MinP", s.MinP, limits.AtMostOne}, {"Typical", s.Typical, limits.AtMostOne},
		{"RepetitionPenalty", s.RepetitionPenalty, limits.NotNegative}, {"FrequencyPenalty", s.FrequencyPenalty, limits.Finite},
		{"PresencePenalty", s.PresencePenalty, limits.Finite}, {"PenaltyWindow", float64(s.PenaltyWindow), limits.NotNegative},
		{"DRY.Multiplier", s.DRY.Multiplier, limits.NotNegative}, {"DRY.Base", cmp.Or(s.DRY.Base, 1), limits.AtLeastOne},
		{"DRY.Allowed", float64(s.DRY.Allowed), limits.NotNegative}, {"DRY.Window", float64(s.DRY.Window), limits.NotNegative},
		{"XTC.Probability", s.XTC.Probability, limits.Probability}, {"XTC.Threshold", s.XTC.Threshold, limits.AtMostOne},
	} {
		if err := f.Check(f.name, f.x); err != nil {
			return err
		}
	}
	for id, b := range s.Bias {
		if math.IsNaN(b) || math.IsInf(b, 1) {
			return fmt.Errorf("the Bias of token %d is %v, want a finite number, or -Inf to forbid the token", id, b)
		}
	}
	switch {
	case s.XTC.Probability > 0 && s.XTC.Threshold > 0.5:
		return fmt.Errorf("XTC.Threshold is %v: two tokens cannot be more probable than 0.5, so that nothing is excluded", s.XTC.Threshold)
	case s.DRY.Multiplier == 0 && (s.DRY.Base != 0 || s.DRY.Allowed != 0):
		return errors.New("DRY has settings, and its Multiplier is 0, which turns it off")
	case s.XTC.Probability == 0 && s.XTC.Threshold != 0:
		return errors.New("XTC has a Threshold, and its Probability is 0, which turns it off")
	}
	return nil
}

// penalizes reports whether tokens that a text has matter to the penalties.
func (s Settings) penalizes() bool {
	return cmp.Or(s.RepetitionPenalty, 1) != 1 || s.FrequencyPenalty != 0 || s.PresencePenalty != 0
}

// Random reports whether tokens are drawn.
func (s Settings) Random() bool { return s.Temperature > 0 }

// OnDevice reports whether Choose runs all steps.
func (s Settings) OnDevice() bool {
	return !s.penalizes() && len(s.Bias) == 0 && s.DRY.Multiplier == 0 && cmp.Or(s.Typical, 1) == 1 && s.XTC.Probability == 0
}
