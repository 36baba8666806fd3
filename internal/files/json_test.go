package files

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// No value of a text is overlooked: memory is checked for at least as many as there are.
func TestCountValues(t *testing.T) {
	for text, want := range map[string]int{
		`1`: 1, `"a,b[{\",["`: 1, `[]`: 1, `[1,2,3]`: 3, `{"a":[1,{}],"b":"\\"}`: 5, `[[],[],[]]`: 4, `"`: 1, `"\`: 1, ``: 0,
	} {
		if got := countValues([]byte(text), math.MaxInt); got < want || got > want+3 {
			t.Errorf("countValues(%q) = %d, want at least %d", text, got, want)
		}
	}
}

// Texts that stay texts take no memory for the values in them.
func TestCountOuterValues(t *testing.T) {
	if got := countValues([]byte(`{"a":[[1,2],[3,4]],"b":{"c":1,"d":"],["},"e":3}`), 1); got != 4 {
		t.Errorf("countValues = %d, want 4: the object's three, and it", got)
	}
}

// A text of more values than memory holds is refused before it is decoded.
func TestJSONMemory(t *testing.T) {
	limit, err := hostmem.Limit()
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("[" + strings.Repeat("0,", 1<<20) + "0]")
	if err := CheckJSON(text, limit/(1<<20)); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("CheckJSON of too many values: %v, want %v", err, driver.ErrMemory)
	}
	var list []int
	if err := JSON(text, &list); err != nil || len(list) != 1<<20+1 {
		t.Errorf("JSON gives %d values, %v", len(list), err)
	}
}

func TestReadJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	var got map[string]int
	if err := ReadJSON(path, 100, &got); !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "a.json") {
		t.Errorf("a file that does not exist: %v", err)
	}
	for text, want := range map[string]string{`{"a":1}`: "", `{"a":`: "unexpected end", `{"a":1}` + strings.Repeat(" ", 100): "more than 100 B"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := ReadJSON(path, 100, &got)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("ReadJSON of %.20q: %v, want %q", text, err, want)
		}
	}
	var wrong *json.SyntaxError
	if err := JSON([]byte("x"), &got); !errors.As(err, &wrong) {
		t.Errorf("JSON of no JSON: %v", err)
	}
}
