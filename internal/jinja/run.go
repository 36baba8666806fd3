package jinja

import (
	"fmt"
	"time"
)

// An Error says what is wrong with a template or its variables.
type Error struct {
	Kind    string // the Python exception that Jinja raises, or "LimitError"
	Message string
	Line    int // of the template, from 1
}

func (e *Error) Error() string {
	return fmt.Sprintf("template line %d: %s: %s", e.Line, e.Kind, e.Message)
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

// A run accounts for what the evaluation of a template takes.
type run struct {
	limits         limits
	now            time.Time
	filters, tests map[string]*builtin // those that map and select call by their names
	tables         *methodTables
	line           int   // of the node that runs
	steps          int   // left
	memory         int   // left, in bytes
	depth          int   // of calls
	within         []any // the containers whose repr is being made
}

func newRun(l limits, now time.Time, filters, tests map[string]*builtin) *run {
	return &run{limits: l, now: now, filters: filters, tests: tests, tables: &tables, line: 1, steps: l.steps, memory: l.memory}
}

type limits struct{ steps, memory, depth int }

func (s *run) fail(kind, format string, args ...any) {
	fail(s.line, kind, format, args...)
}

// step accounts for n steps.
func (s *run) step(n int) {
	if s.steps -= n; s.steps < 0 {
		s.fail("LimitError", "the rendering takes more than %d steps", s.limits.steps)
	}
}

// alloc accounts for n bytes, before they are allocated.
func (s *run) alloc(n int) {
	if n < 0 || n > s.memory {
		s.fail("LimitError", "the values take more than %d bytes", s.limits.memory)
	}
	s.memory -= n
	s.step(n >> 6)
}

// allocN accounts for n times size bytes.
func (s *run) allocN(n int64, size int) {
	if n > 0 && size > 0 && n > int64(s.memory/size) {
		s.alloc(-1)
	}
	s.alloc(int(max(0, n)) * size)
}

// descend accounts for a call, or for a value inside another; the caller subtracts it again.
func (s *run) descend() {
	if s.depth++; s.depth > s.limits.depth {
		s.fail("RecursionError", "calls or values are nested deeper than %d", s.limits.depth)
	}
}
