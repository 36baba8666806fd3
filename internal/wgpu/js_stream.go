//go:build js

package wgpu

import "encoding/binary"

// A stream has commands for JavaScript, encoded as words of 32 bits: the code of a command and
// then its arguments. replay.js runs it.
type stream []byte

// A code identifies a command of replay.js.
type code uint32

const (
	newBuffer code = iota
	newLayout
	newPipeline
	newQueries
	newGroup
	free
	write
	beginPass
	beginTimedPass
	setPipeline
	setGroup
	setGroupAt
	dispatch
	copyBuffer
	resolve
	submit
	mapBuffer
	unmap
)

// codeNames has the commands' names in replay.js.
var codeNames = []any{
	newBuffer: "newBuffer", newLayout: "newLayout", newPipeline: "newPipeline", newQueries: "newQueries", newGroup: "newGroup",
	free: "free", write: "write", beginPass: "beginPass", beginTimedPass: "beginTimedPass", setPipeline: "setPipeline", setGroup: "setGroup",
	setGroupAt: "setGroupAt", dispatch: "dispatch", copyBuffer: "copy", resolve: "resolve", submit: "submit", mapBuffer: "map", unmap: "unmap",
}

// put appends a command, or a part of its arguments.
func (s *stream) put(c code, args ...uint32) {
	*s = binary.LittleEndian.AppendUint32(*s, uint32(c))
	s.words(args...)
}

func (s *stream) words(args ...uint32) {
	for _, a := range args {
		*s = binary.LittleEndian.AppendUint32(*s, a)
	}
}

// long appends a number of more than 32 bits.
func (s *stream) long(x int64) { *s = binary.LittleEndian.AppendUint64(*s, uint64(x)) }

// data appends bytes with their length.
func (s *stream) data(p []byte) {
	s.words(uint32(len(p)))
	*s = append(*s, p...)
	*s = append(*s, make([]byte, -len(p)&3)...)
}

// An encoding appends the commands of a submission. Consecutive dispatches with the same query
// share a pass, and it does not repeat commands that would set the same state.
type encoding struct {
	*stream
	open     bool // a pass has begun
	queries  Queries
	query    uint32
	pipeline Pipeline
	group    Group
	offset   uint32
}

func (e *encoding) append(c *Command) {
	switch {
	case c.Pipeline != 0:
		e.dispatch(c)
		return
	case c.Queries != 0:
		e.put(resolve, uint32(c.Queries), uint32(c.Size/8), uint32(c.Dst))
	default:
		e.put(copyBuffer, uint32(c.Src))
		e.long(c.SrcOffset)
		e.words(uint32(c.Dst))
		e.long(c.DstOffset)
		e.long(c.Size)
	}
	e.open = false // replay.js ends the pass before a resolve or a copy
}

func (e *encoding) dispatch(c *Command) {
	if !e.open || c.Queries != e.queries || c.Query != e.query {
		e.beginPass(c)
	}
	if c.Pipeline != e.pipeline {
		e.pipeline = c.Pipeline
		e.put(setPipeline, uint32(c.Pipeline))
	}
	switch {
	case c.Group == e.group && (!c.Params || c.Offset == e.offset):
	case c.Params:
		e.put(setGroupAt, uint32(c.Group), c.Offset)
	default:
		e.put(setGroup, uint32(c.Group))
	}
	e.group, e.offset = c.Group, c.Offset
	e.put(dispatch, c.Groups[:]...)
}

// beginPass begins a pass for the query of a command.
func (e *encoding) beginPass(c *Command) {
	*e = encoding{stream: e.stream, open: true, queries: c.Queries, query: c.Query}
	if c.Queries == 0 {
		e.put(beginPass)
		return
	}
	e.put(beginTimedPass, uint32(c.Queries), c.Query)
}
