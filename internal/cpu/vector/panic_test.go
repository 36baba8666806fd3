package vector

import (
	"errors"
	"strings"
	"testing"
)

// A panic becomes an error whose text is one line, and which has the stack.
func TestRecoverTo(t *testing.T) {
	for value, want := range map[any]string{
		"boom":                           "cpu: kernel failed: boom",
		"two\nlines\n\tand a tab":        "cpu: kernel failed: two lines and a tab",
		errors.New("index out of range"): "cpu: kernel failed: index out of range",
	} {
		err := func() (err error) {
			defer RecoverTo(&err)
			panic(value)
		}()
		var e *panicError
		if !errors.As(err, &e) || err.Error() != want || !strings.Contains(string(e.Stack), "TestRecoverTo") {
			t.Errorf("a panic with %v gives %q, want %q and the stack", value, err, want)
		}
	}
}
