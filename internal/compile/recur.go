package compile

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// Apart reports whether a plan has a number of outputs, each whole in a buffer of its own
// from the start.
func (p *Plan) Apart(outputs int) bool {
	seen := make([]bool, len(p.Buffers))
	for i := range p.Outputs {
		o := &p.Outputs[i]
		if o.Leaf || o.Offset != 0 || seen[o.Index] || p.Buffers[o.Index].Gaps != 0 {
			return false
		}
		seen[o.Index] = true
	}
	return len(p.Outputs) == outputs
}

// Stack makes the last outputs of the plan, which are Apart, parts of longer buffers: a
// call may store each from an offset on.
func (p *Plan) Stack(outputs int) {
	stacked := make([]bool, len(p.Buffers))
	for _, o := range p.Outputs[len(p.Outputs)-outputs:] {
		if !o.Leaf {
			stacked[o.Index] = true
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		k := *s.Kernel
		k.Args = slices.Clone(k.Args)
		for n, a := range s.Args {
			if !s.Args[n].IsBuffer() || !stacked[a.Index] {
				continue
			}
			b := &p.Buffers[a.Index]
			k.Args[n].Part = k.Args[n].Kind == ir.Out
			k.Args[n].Align = k.Args[n].Align && b.Bytes()%16 == 0
			s.Kernel = &k
		}
	}
}
