package linalg

import (
	"errors"
	"strings"
	"testing"
)

// A panic becomes an error whose text is one line, and which has the stack.
func TestRecoverTo(t *testing.T) {
	for value, want := range map[any]string{
		"boom":                           "it failed: boom",
		"two\nlines\n\tand a tab":        "it failed: two lines and a tab",
		errors.New("index out of range"): "it failed: index out of range",
	} {
		err := func() (err error) {
			defer recoverTo(&err)
			panic(value)
		}()
		var e *panicError
		if !errors.As(err, &e) || err.Error() != want || !strings.Contains(string(e.Stack), "TestRecoverTo") {
			t.Errorf("a panic with %v gives %q, want %q and the stack", value, err, want)
		}
	}
}
