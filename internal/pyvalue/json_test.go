package pyvalue

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"b": 1, "a": [1.0, 1e2, -0, null, true], "b": 2}`, "{'b': 2, 'a': [1.0, 100.0, 0, None, True]}"},
		{`1e400`, "inf"},
		{`9223372036854775808`, "error: the integer 9223372036854775808 does not fit in 64 bits"},
		{`{"a": 1} 2`, "error: text follows the JSON value"},
		{`{"a"`, "error: unexpected EOF"},
		{`[1, 2`, "error: unexpected EOF"},
		{strings.Repeat("[", 100_000), "error: JSON nests deeper than 1000"},
	} {
		v, err := Decode([]byte(c.text))
		got := fmt.Sprint("error: ", err)
		if err == nil {
			got = NewRun(Limits{Steps: 1000, Memory: 1000, Depth: 9}, time.Time{}, nil, nil).Repr(v)
		}
		if got != c.want {
			t.Errorf("%.40s: got %s, want %s", c.text, got, c.want)
		}
	}
}
