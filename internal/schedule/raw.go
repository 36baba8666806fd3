package schedule

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Raw returns the pass of a user's kernel, which has no body, and its signature. A call gives it whole
// buffers, as it does for results. An error says that the target cannot run the kernel.
func Raw(k *ir.RawKernel, t Target) (*shader.Pass, Signature, error) {
	p := &shader.Pass{Threads: k.Threads, Grid: k.Grid}
	args := slices.Clone(k.Args)
	for i := range args {
		if args[i].Kind == ir.Value {
			p.Params = append(p.Params, &shader.Param{Name: "n", Type: shader.U32, Arg: i})
			continue
		}
		p.Buffers = append(p.Buffers, &shader.Buffer{Name: k.Names[i], Arg: i, Type: args[i].DType, Write: args[i].Kind == ir.Out})
		args[i].Kind = ir.Out
	}
	groups := [3]int{t.MaxGroups, min(t.MaxGroups, maxGroupsYZ), min(t.MaxGroups, maxGroupsYZ)}
	for axis, n := range k.Grid {
		if n > groups[axis] {
			return nil, Signature{}, fmt.Errorf("%w: %d workgroups along axis %d; the device takes %d: set Grid, and let a thread compute several elements", driver.ErrSource, n, axis, groups[axis])
		}
	}
	if k.Threads > t.MaxThreads {
		return nil, Signature{}, fmt.Errorf("%w: %d threads of a workgroup; the device takes %d", driver.ErrSource, k.Threads, t.MaxThreads)
	}
	return p, SignatureOf(&ir.Kernel{Args: args}, t), nil
}

// maxGroupsYZ is the most workgroups along the second and the third axis, on all targets.
const maxGroupsYZ = 1<<16 - 1
