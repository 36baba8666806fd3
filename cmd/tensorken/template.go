package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/internal/jinja"
	"github.com/tensorken/tensorken/internal/pyvalue"
)

// templateOptions are the flags of template.
type templateOptions struct {
	json bool
	now  string
}

func templateCommand() *cobra.Command {
	var o templateOptions
	c := &cobra.Command{
		Use:   "template",
		Short: "Render chat templates of language models, for other programs",
		Long: `Render chat templates of language models, which are written in Jinja, as Hugging Face's
transformers renders them. Each line of standard input is a JSON object such as

  {"template": "{{ messages[0].content }}", "context": {"messages": [{"content": "Hi"}]}}

and is answered by a line of standard output, {"output": "Hi"}, or {"error": "…"} with the
template's line for a template that fails. A line that is no such object is answered by an
error too, and makes the exit status 1.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.run(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "read and write JSON, one object a line")
	c.Flags().StringVar(&o.now, "now", "", "the time that templates see, as \"2026-11-27 09:05:03\"; by default the current one")
	return c
}

func (o templateOptions) run(ctx context.Context, in io.Reader, out io.Writer) error {
	if !o.json {
		return errors.New("template: --json is missing: other input than JSON is not supported")
	}
	now, err := time.Parse(time.DateTime, o.now)
	if err != nil && o.now != "" {
		return fmt.Errorf("--now: %q is no time such as \"2026-11-27 09:05:03\"", o.now)
	}
	done := make(chan error, 1) // a read from a terminal does not end with the context
	go func() { done <- answerTemplates(in, out, now) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return nil
	}
}

// answerTemplates answers each line, at the current time if now is zero.
func answerTemplates(in io.Reader, out io.Writer, now time.Time) error {
	lines := bufio.NewReader(in)
	refused := 0
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("standard input could not be read: %w", err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			answer, ok := answerTemplate(line, now)
			if !ok {
				answer["error"] = fmt.Sprintf("line %d of the input: %s", n, answer["error"])
				refused++
			}
			if err := writeASCII(out, answer); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
	}
	if refused > 0 {
		return fmt.Errorf("lines that could not be answered: %d", refused)
	}
	return nil
}

// answerTemplate renders a template; ok is false for a line that does not ask for it.
func answerTemplate(line []byte, now time.Time) (answer map[string]string, ok bool) {
	failed := func(err error, ok bool) (map[string]string, bool) {
		return map[string]string{"error": err.Error()}, ok
	}
	var ask struct {
		Template *string
		Context  json.RawMessage
	}
	if err := json.Unmarshal(line, &ask); err != nil {
		return failed(badLine(err), false)
	}
	if ask.Template == nil {
		return failed(errors.New(`the object has no "template"`), false)
	}
	vars := &pyvalue.Dict{}
	if ask.Context != nil {
		v, err := pyvalue.Decode(ask.Context)
		if err != nil {
			return failed(fmt.Errorf("context: %w", err), false)
		}
		if vars, ok = v.(*pyvalue.Dict); !ok && v != pyvalue.None {
			return failed(errors.New(`"context" is no object`), false)
		}
	}
	t, err := jinja.Parse(*ask.Template)
	if err != nil {
		return failed(err, true)
	}
	text, err := t.Render(vars, &jinja.Options{Now: now})
	if err != nil {
		return failed(err, true)
	}
	return map[string]string{"output": text}, true
}

// badLine returns an error about a line of JSON in its own words, without the types of this program.
func badLine(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Field == "":
		return fmt.Errorf("it is no object: it is of type %s", wrong.Value)
	}
	return fmt.Errorf("%q is of type %s", strings.ToLower(wrong.Field), wrong.Value)
}

// writeASCII writes a line of JSON with escapes for all but ASCII, which terminals cannot take
// for commands.
func writeASCII(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var b []byte
	for _, r := range string(data) {
		switch {
		case r < 0x7f:
			b = append(b, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
