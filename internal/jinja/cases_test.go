package jinja

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// now is the time of strftime_now in tests.
var now = time.Date(2026, 11, 27, 9, 5, 3, 0, time.UTC)

// render renders a template with variables of a JSON object.
func render(template, context string) (string, error) {
	t, err := Parse(template)
	if err != nil {
		return "", err
	}
	vars, err := pyvalue.Decode([]byte(context))
	if err != nil {
		return "", err
	}
	return t.Render(vars.(*pyvalue.Dict), &Options{Now: now})
}

// Cases are templates as transformers renders them. cases.json has whole chat templates and
// pieces of them; features.json has small ones by feature, whose results are from Jinja 3.1.6.
func TestCases(t *testing.T) {
	for file, n := range map[string]int{"cases": 89, "features": 200} {
		cases := readCases(t, file)
		if len(cases) != n {
			t.Errorf("%s.json has %d cases, want %d", file, len(cases), n)
		}
		for _, c := range cases {
			got, err := render(c.Template, string(c.Context))
			switch {
			case c.Error == nil && err != nil:
				t.Errorf("%s: error %v, want %q", c.Name, err, c.Output)
			case c.Error == nil && got != c.Output:
				t.Errorf("%s: got\n%q\nwant\n%q", c.Name, got, c.Output)
			case c.Error != nil && err == nil:
				t.Errorf("%s: got %q, want an error of type %s: %s", c.Name, got, c.Error.Type, c.Error.Message)
			case c.Error != nil && c.Error.Type == "TemplateError" && !strings.Contains(err.Error(), c.Error.Message):
				t.Errorf("%s: error %v, want %s", c.Name, err, c.Error.Message)
			}
		}
	}
}

type testCase struct {
	Name, Template, Output string
	Context                json.RawMessage
	Error                  *struct{ Type, Message string }
}

func readCases(t testing.TB, file string) []testCase {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}
