// Package jinja renders the chat templates of language models, which are written in Jinja, as
// Hugging Face's transformers renders them: in Jinja's immutable sandbox with trim_blocks,
// lstrip_blocks, loop controls, tojson, raise_exception, strftime_now and generation blocks.
//
// A template's text and a Dict of variables come in, text goes out. Values print, compare and
// fail as Python's do. Templates come out of strangers' model files: each rendering is bounded
// in steps, memory, depth and output by Options, and whatever is not supported is an *Error.
//
// Text goes through lex.go, parse.go and parsexpr.go, which make the nodes of ast.go. bind.go
// then binds each name to a variable, by Jinja's rules. exec.go and eval.go run the nodes.
package jinja

import (
	"fmt"
	"strings"
	"time"
)

// Bounds of templates, which no template of a published model comes near.
const (
	maxSource  = 1 << 20 // bytes of a template
	maxNesting = 200     // brackets and blocks inside each other
	maxTree    = 600     // nodes above each other: a chain of operators nests to the left
	maxParams  = 1000    // of a macro, and named arguments of a call
	maxRange   = 100_000 // the length of a range, which Jinja's sandbox limits too
)

// Options bound a rendering. Zero means the default.
type Options struct {
	Now    time.Time // the time of strftime_now, the current one by default
	Steps  int       // loop rounds, calls, and pieces of text or lists worked on: 5 million
	Memory int       // bytes that values take, without what is freed: 128 MiB
	Output int       // bytes: 64 MiB
	Depth  int       // macros that call each other: 250
}

// An Error is a mistake in a template or its variables.
type Error struct {
	Kind    string // the Python exception that Jinja raises, or "LimitError"
	Message string
	Line    int // of the template, from 1
}

func (e *Error) Error() string {
	return fmt.Sprintf("template line %d: %s: %s", e.Line, e.Kind, e.Message)
}

// A Template is parsed text. It may render in several goroutines at once.
type Template struct {
	body []stmt
	root *function
	in   []load // of the outermost scope
}

// Parse parses a template.
func Parse(text string) (t *Template, err error) {
	defer catch(&err)
	if len(text) > maxSource {
		fail(1, "LimitError", "the template has %d bytes, and may have %d", len(text), maxSource)
	}
	p := &parser{toks: lex(strings.ToValidUTF8(text, "\uFFFD"))}
	t = &Template{body: p.statements(nil), root: &function{}}
	checkDepth(t.body)
	t.in = resolve(t.body, t.root)
	return t, nil
}

// Render renders the template with variables.
func (t *Template) Render(vars *Dict, o *Options) (text string, err error) {
	defer catch(&err)
	s := &state{vars: vars, lib: &lib, line: 1, out: new(strings.Builder)}
	if vars == nil {
		s.vars = &Dict{}
	}
	if o != nil {
		s.Options = *o
	}
	for _, limit := range []struct {
		field *int
		def   int
	}{{&s.Steps, 5_000_000}, {&s.Memory, 128 << 20}, {&s.Output, 64 << 20}, {&s.Depth, 250}} {
		if *limit.field == 0 {
			*limit.field = limit.def
		}
	}
	s.steps, s.memory, s.root = s.Steps, s.Memory, s.out
	s.push(t.root, nil)
	s.enter(t.in)
	s.run(t.body)
	return s.out.String(), nil
}

// catch turns a failure into an error. Other panics go on.
func catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case *Error:
		*err = p
	default:
		panic(p)
	}
}

func fail(line int, kind, format string, args ...any) {
	panic(&Error{kind, fmt.Sprintf(format, args...), line})
}

// A state is a rendering under way.
type state struct {
	Options
	vars      *Dict
	lib       *library
	frame     *frame
	out, root *strings.Builder // the current output, and the rendering's
	captured  string           // the body of a filter block, for its filter
	line      int              // of the node that runs
	steps     int              // left
	memory    int              // left, in bytes
	depth     int              // of calls
	within    []any            // the containers whose repr is being made
}

func (s *state) fail(kind, format string, args ...any) {
	fail(s.line, kind, format, args...)
}

// step accounts for n steps.
func (s *state) step(n int) {
	if s.steps -= n; s.steps < 0 {
		s.fail("LimitError", "the rendering takes more than %d steps", s.Steps)
	}
}

// alloc accounts for n bytes, before they are allocated.
func (s *state) alloc(n int) {
	if n < 0 || n > s.memory {
		s.fail("LimitError", "the values take more than %d bytes", s.Memory)
	}
	s.memory -= n
	s.step(n >> 6)
}

// allocN accounts for n times size bytes.
func (s *state) allocN(n int64, size int) {
	if n > 0 && size > 0 && n > int64(s.memory/size) {
		s.alloc(-1)
	}
	s.alloc(int(max(0, n)) * size)
}

// descend accounts for a call, or for a value inside another; the caller subtracts it again.
func (s *state) descend() {
	if s.depth++; s.depth > s.Depth {
		s.fail("RecursionError", "calls or values are nested deeper than %d", s.Depth)
	}
}

func (s *state) write(text string) {
	s.alloc(len(text))
	if s.out == s.root && s.out.Len()+len(text) > s.Output {
		s.fail("LimitError", "the output has more than %d bytes", s.Output)
	}
	s.out.WriteString(text)
}
