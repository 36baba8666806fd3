// Package pyvalue has Python's values as templates need them: they print, compare, add, format
// themselves and fail as Python's do, in a sandbox in which nothing changes them.
//
// Values come in as Go's of the types that value.go lists, or from JSON; text and values come
// out. A Run, in run.go, accounts for steps and memory, so that strangers' templates are
// bounded. A failure is a panic with an *Error, which Catch turns into an error.
package pyvalue

import (
	"fmt"
	"time"

	"github.com/tensorken/tensorken/internal/files"
)

// An Error is a fault of a template or of its variables.
type Error struct {
	Kind    string // the Python exception that Jinja raises, or "LimitError"
	Message string
	Line    int // of the template, from 1
}

func (e *Error) Error() string {
	return fmt.Sprintf("template line %d: %s: %s", e.Line, e.Kind, files.Name(e.Message))
}

// Catch turns a failure into an error. Other panics go on.
func Catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case *Error:
		*err = p
	default:
		panic(p)
	}
}

// Fail panics with an error of a kind, which is the name of a Python exception, at a line.
func Fail(line int, kind, format string, args ...any) {
	panic(&Error{kind, fmt.Sprintf(format, args...), line})
}

// A Run accounts for the steps and the memory of a template's evaluation.
type Run struct {
	limits         Limits
	now            time.Time
	Filters, Tests map[string]*Builtin // those that map and select call by their names
	tables         *methodTables
	Line           int   // of the node that runs
	steps          int   // left
	memory         int   // left, in bytes
	Depth          int   // of calls
	within         []any // the containers whose repr is being made
}

// NewRun returns a run at line 1. A zero now is the current time.
func NewRun(l Limits, now time.Time, filters, tests map[string]*Builtin) *Run {
	return &Run{limits: l, now: now, Filters: filters, Tests: tests, tables: &tables, Line: 1, steps: l.Steps, memory: l.Memory}
}

// Limits bound a run: steps, bytes, and calls or values inside each other.
type Limits struct{ Steps, Memory, Depth int }

// Fail is the function Fail at the run's line.
func (s *Run) Fail(kind, format string, args ...any) {
	Fail(s.Line, kind, format, args...)
}

// Step accounts for n steps.
func (s *Run) Step(n int) {
	if s.steps -= n; s.steps < 0 {
		s.Fail("LimitError", "the rendering takes more than %d steps", s.limits.Steps)
	}
}

// Alloc accounts for n bytes, before they are allocated.
func (s *Run) Alloc(n int) {
	if n < 0 || n > s.memory {
		s.Fail("LimitError", "the values take more than %d bytes", s.limits.Memory)
	}
	s.memory -= n
	s.Step(n >> 6)
}

// AllocN accounts for n times size bytes.
func (s *Run) AllocN(n int64, size int) {
	if n > 0 && size > 0 && n > int64(s.memory/size) {
		s.Alloc(-1)
	}
	s.Alloc(int(max(0, n)) * size)
}

// Descend accounts for a call, or for a value inside another; the caller subtracts it again.
func (s *Run) Descend() {
	if s.Depth++; s.Depth > s.limits.Depth {
		s.Fail("RecursionError", "calls or values are nested deeper than %d", s.limits.Depth)
	}
}
