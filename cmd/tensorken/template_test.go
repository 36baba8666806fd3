package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// template runs the command on lines of input.
func template(o templateOptions, lines ...string) (string, error) {
	var out bytes.Buffer
	err := o.run(context.Background(), strings.NewReader(strings.Join(lines, "\n")), &out)
	return out.String(), err
}

func TestTemplate(t *testing.T) {
	got, err := template(templateOptions{json: true, now: "2026-11-27 09:05:03"},
		`{"template": "{{ a }} {{ b | tojson }}", "context": {"a": 1.0, "b": {"z": 1, "a": null}}}`,
		`{"template": "{{ strftime_now('%d %b %Y %H:%M:%S') }}"}`,
		`{"template": "é🙂{{ '\\x7f' }}", "context": null}`,
		`{"template": "\n{{ x.y }}", "context": {}}`,
		`{"template": "{% if %}", "context": {}}`,
		`{"template": "{{ raise_exception('no') }}", "context": {}}`)
	want := `{"output":"1.0 {\"z\": 1, \"a\": null}"}
{"output":"27 Nov 2026 09:05:03"}
{"output":"\u00e9\ud83d\ude42\u007f"}
{"error":"template line 2: UndefinedError: 'x' is undefined"}
{"error":"template line 1: TemplateSyntaxError: expected an expression, got \"%}\""}
{"error":"template line 1: TemplateError: no"}
`
	if err != nil || got != want {
		t.Errorf("error %v, got\n%swant\n%s", err, got, want)
	}
}

// A line that cannot be answered does not stop the others.
func TestTemplateBadLines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"template": `, "unexpected end of JSON input"},
		{`{"context": {}}`, `the object has no \"template\"`},
		{`{"template": "", "context": [1]}`, `\"context\" is no object`},
		{`{"template": "", "context": {"a": 9223372036854775808}}`, "context: the integer 9223372036854775808 does not fit in 64 bits"},
		{`7`, "it is no object: it is of type number"},
		{`7 8`, "invalid character '8' after top-level value"},
	} {
		got, err := template(templateOptions{json: true}, `{"template": "a"}`, c.line, `{"template": "b"}`)
		lines := strings.Split(got, "\n")
		if err == nil || len(lines) != 4 || lines[0] != `{"output":"a"}` || !strings.Contains(lines[1], "line 2 of the input: ") ||
			!strings.Contains(lines[1], c.want) || lines[2] != `{"output":"b"}` {
			t.Errorf("%s: error %v, got\n%s", c.line, err, got)
		}
	}
}

func TestTemplateFlags(t *testing.T) {
	if status, stdout, stderr := command("template", "--json"); status != 0 || stdout != "" || stderr != "" {
		t.Errorf("no input: status %d, %q, %q", status, stdout, stderr)
	}
	for _, args := range [][]string{{}, {"--json", "--now", "today"}, {"--json", "--now", ""}, {"--json", "file"}} {
		if status, _, stderr := command(append([]string{"template"}, args...)...); status != 1 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("template %q: status %d, %q", args, status, stderr)
		}
	}
}

// Errors about a line have no types of Go.
func TestBadLine(t *testing.T) {
	for line, want := range map[string]string{`{"text": 5}`: `"text" is of type number`, `[1]`: "it is no object: it is of type array", `{"text": "a", "odd": 1}`: `unknown field "odd"`} {
		var q struct{ Text *string }
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := badLine(d.Decode(&q)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
