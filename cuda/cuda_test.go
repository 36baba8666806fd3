package cuda

import (
	"strings"
	"testing"
)

func TestOpenOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Memory: -1}, "cuda: Options.Memory is -1: want a number of bytes"},
		{Options{Index: -1}, "cuda: Options.Index is -1: want the position of a GPU"},
	} {
		if _, err := Open(&c.o); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Open(%+v): %v, want %s", c.o, err, c.want)
		}
	}
}
