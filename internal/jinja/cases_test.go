package jinja

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// now is the time of strftime_now in tests.
var now = time.Date(2026, 11, 27, 9, 5, 3, 0, time.UTC)

// render renders a template with variables of a JSON object.
func render(template, context string) (string, error) {
	t, err := Parse(template)
	if err != nil {
		return "", err
	}
	vars, err := Decode([]byte(context))
	if err != nil {
		return "", err
	}
	return t.Render(vars.(*Dict), &Options{Now: now})
}

// The file has templates as transformers renders them.
func TestCases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Template, Output string
		Context                json.RawMessage
		Error                  *struct{ Type, Message string }
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			got, err := render(c.Template, string(c.Context))
			switch {
			case c.Error == nil && err != nil:
				t.Errorf("error %v, want %q", err, c.Output)
			case c.Error == nil && got != c.Output:
				t.Errorf("got\n%q\nwant\n%q", got, c.Output)
			case c.Error != nil && err == nil:
				t.Errorf("got %q, want an error of type %s: %s", got, c.Error.Type, c.Error.Message)
			case c.Error != nil && c.Error.Type == "TemplateError" && !strings.Contains(err.Error(), c.Error.Message):
				t.Errorf("error %v, want %s", err, c.Error.Message)
			}
		})
	}
	if len(cases) != 89 {
		t.Errorf("%d cases, want 89", len(cases))
	}
}
