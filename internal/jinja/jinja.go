// Package jinja renders the chat templates of language models, which are written in Jinja, as
// Hugging Face's transformers renders them: in Jinja's immutable sandbox with trim_blocks,
// lstrip_blocks, loop controls, tojson, raise_exception, strftime_now and generation blocks.
//
// A template's text and a pyvalue.Dict of variables come in, text goes out. Values print, compare and
// fail as Python's do. Templates come out of strangers' model files: each rendering is bounded
// in steps, memory, depth and output by Options, and whatever is not supported is a
// *pyvalue.Error, with the template's line.
//
// Text goes through lex.go, parse.go and parsexpr.go, which make the nodes of ast.go. bind.go
// then binds each name to a variable, by Jinja's rules. exec.go and eval.go run the nodes.
package jinja

import (
	"cmp"
	"strings"
	"time"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/pyvalue"
)

// Bounds of templates, which no template of a published model comes near.
const (
	maxSource  = 1 << 20 // bytes of a template
	maxNesting = 200     // brackets and blocks inside each other
	maxTree    = 600     // nodes above each other: a chain of operators nests to the left
	maxParams  = 1000    // of a macro, and named arguments of a call

	// perSourceByte is the most bytes of memory that a byte of a template takes: a bracket is a token
	// and a list.
	perSourceByte = 512
)

// Options bound a rendering. Zero means the default.
type Options struct {
	Now    time.Time // the time of strftime_now, the current one by default
	Steps  int       // loop rounds, calls, and pieces of text or lists worked on: 5 million
	Memory int       // bytes that values take, freed ones too: 128 MiB
	Output int       // bytes: 64 MiB
	Depth  int       // macros that call each other: 250
}

// A Template is parsed text. It may render in several goroutines at once.
type Template struct {
	body []stmt
	root *function
	in   []load // of the outermost scope
}

// Parse parses a template.
func Parse(text string) (t *Template, err error) {
	defer pyvalue.Catch(&err)
	if len(text) > maxSource {
		pyvalue.Fail(1, "LimitError", "the template has %d bytes, and may have %d", len(text), maxSource)
	}
	if err := hostmem.Check(len(text), perSourceByte); err != nil {
		return nil, err
	}
	p := &parser{toks: lex(strings.ToValidUTF8(text, "\uFFFD"))}
	t = &Template{body: p.statements(nil), root: &function{}}
	checkDepth(t.body)
	t.in = resolve(t.body, t.root)
	return t, nil
}

// Render renders the template with variables.
func (t *Template) Render(vars *pyvalue.Dict, o *Options) (text string, err error) {
	defer pyvalue.Catch(&err)
	var limit Options
	if o != nil {
		limit = *o
	}
	r := pyvalue.NewRun(pyvalue.Limits{Steps: cmp.Or(limit.Steps, 5_000_000), Memory: cmp.Or(limit.Memory, 128<<20), Depth: cmp.Or(limit.Depth, 250)}, limit.Now, filters, tests)
	s := &state{Run: r, vars: vars, out: new(strings.Builder), output: cmp.Or(limit.Output, 64<<20)}
	if vars == nil {
		s.vars = &pyvalue.Dict{}
	}
	s.root = s.out
	s.push(t.root, nil)
	s.enter(t.in)
	s.execute(t.body)
	return s.out.String(), nil
}

// A state is a rendering under way.
type state struct {
	*pyvalue.Run
	vars      *pyvalue.Dict
	frame     *frame
	out, root *strings.Builder // the current output, and the rendering's
	output    int              // the most bytes of root
	captured  string           // the body of a filter block, for its filter
}

func (s *state) write(text string) {
	s.Alloc(len(text))
	if s.out == s.root && s.out.Len()+len(text) > s.output {
		s.Fail("LimitError", "the output has more than %d bytes", s.output)
	}
	s.out.WriteString(text)
}
