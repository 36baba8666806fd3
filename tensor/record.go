package tensor

import (
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// Record records the graph of roots on behalf of op: see exec.Record.
func (internal) Record(_ graph.Token, op string, args, numbers, roots, old []*graph.Node, groups []int) (*exec.Recording, error) {
	d := Default().exec()
	r, err := exec.Record(d, args, numbers, roots, old, groups)
	return r, failure(op, d, err)
}

// Replay runs a recording on behalf of op.
func (internal) Replay(_ graph.Token, op string, r *exec.Recording, j *storage.Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	out, err := r.Run(j, args, numbers)
	return out, failure(op, Default().exec(), err)
}

// Evaluate is [Eval] of nodes on behalf of op.
func (internal) Evaluate(_ graph.Token, op string, ns []*graph.Node) error {
	d := Default().exec()
	return failure(op, d, exec.Eval(d, ns))
}
