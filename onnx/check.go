package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/onnx/internal/ops"
)

// A need is an operator that a model has, at the version of its operator set.
type need struct {
	domain, op string
	opset      int
	found      bool
	function   bool
}

// count notes the operator of a node.
func (m *Model) count(n *node) {
	m.needs[need{n.domain, n.Op, n.opset, n.found, n.function != nil}]++
}

// A Need is an operator that a model needs.
type Need struct {
	Op      string // with its domain unless that is the standard's
	Opset   int
	Nodes   int    // how many nodes have it
	Missing string // why it cannot run; empty if it can
}

// Check lists the operators of a model.
func (m *Model) Check() []Need {
	var list []Need
	for n, count := range m.needs {
		x := Need{Op: qualified(n.domain, n.op), Opset: n.opset, Nodes: count}
		if !n.found {
			x.Missing = missing(n)
		}
		list = append(list, x)
	}
	sorts.Stable(list, func(a, b Need) int { return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Opset, b.Opset)) })
	return list
}

// missing says why there is no function for an operator.
func missing(n need) string {
	var ranges []string
	for _, r := range ops.All() {
		if r.Domain == n.domain && r.Name == n.op {
			until := "on"
			if r.Until > 0 {
				until = fmt.Sprintf("to %d", r.Until)
			}
			ranges = append(ranges, fmt.Sprintf("%d %s", r.Since, until))
		}
	}
	if len(ranges) > 0 {
		return "there is this operator for opset " + strings.Join(ranges, ", ")
	}
	return "there is no such operator"
}

// Check opens a model and lists its operators.
func Check(path string) ([]Need, error) {
	m, err := Open(path)
	if err != nil {
		return nil, err
	}
	return m.Check(), nil
}

// missing returns an error that lists all that is missing.
func (m *Model) missing() error {
	var list []string
	for _, n := range m.Check() {
		if n.Missing != "" {
			list = append(list, fmt.Sprintf("%s of opset %d: %s", files.Name(n.Op), n.Opset, n.Missing))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("onnx: the model needs %s", strings.Join(slices.Compact(list), "; "))
}
