package train_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/train"
)

func TestWatch(t *testing.T) {
	l := newLoop(io.Discard)
	stop := errors.New("stop")
	var lengths []int
	l.Watch = func(history []train.Metrics) error {
		lengths = append(lengths, len(history))
		if _, ok := history[len(history)-1]["loss"]; !ok {
			t.Errorf("epoch %d has the metrics %v, without a loss", len(history), history[len(history)-1])
		}
		if len(history) == 3 {
			return stop
		}
		return nil
	}
	if err := l.Run(context.Background()); err != stop {
		t.Errorf("Run = %v, want the error of Watch", err)
	}
	if !slices.Equal(lengths, []int{1, 2, 3}) || len(l.History) != 3 || !l.Best.Weight.IsValid() {
		t.Errorf("Watch saw histories of %v epochs, History has %d, Best %v; want 1, 2, 3; 3; a model", lengths, len(l.History), l.Best)
	}
	l.Watch = nil
	if err := l.Run(context.Background()); err != nil || len(l.History) != l.Epochs {
		t.Errorf("Run again = %v after %d epochs, want %d", err, len(l.History), l.Epochs)
	}
}
