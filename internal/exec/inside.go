package exec

import (
	"errors"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
)

// A plan of a recording or a step has collectives of its device among its kernels: a collective starts once its operands are computed,
// while kernels go on, and those that read its result wait for it. Other collectives are steps of the program.

// inside returns whether plans of d have a HostCall among their kernels.
func (b *builder) inside(d *Device) func(n *graph.Node) bool {
	if !b.together && (b.recorder == nil || !b.replayed) {
		return nil
	}
	return func(n *graph.Node) bool {
		return deviceOf(n, d) == d && d.isCollective(n) && hostFunc(n).Collective.Ready(d.memory.Driver.(driver.Collective))
	}
}

// appendCollectives appends the starts of the collectives of a plan.
func (d *Device) appendCollectives(list []pause, p *loadedPlan, c *capture.Capture, l *launch) []pause {
	if len(c.Inside) == 0 {
		return list
	}
	for i := range p.compiled.Steps {
		if s := &p.compiled.Steps[i]; s.Collective() >= 0 {
			list = append(list, pause{i, 1, func() error { return d.startInside(c, s, l.calls[i].Args) }})
		}
	}
	return list
}

// startInside starts a collective of a plan.
func (d *Device) startInside(c *capture.Capture, s *compile.Step, args []driver.Arg) error {
	n, device := c.Inside[s.Collective()], d.memory.Driver.(driver.Collective)
	f := hostFunc(n)
	joined, err := f.Collective.Join(device)
	if err == nil && !joined {
		err = errors.New("the ranks' devices are not connected any more")
	}
	if err != nil {
		return &HostError{f, err}
	}
	c.Begun++
	var in []driver.Arg
	for _, arg := range s.Operands() {
		in = append(in, args[arg])
	}
	return startCollective(device, n, n.Src().Append(nil), in, args[0])
}

// startCollective starts a collective n of src on the buffers of operands and of the result.
func startCollective(d driver.Collective, n *graph.Node, src []*graph.Node, in []driver.Arg, out driver.Arg) error {
	arrays := make([]graph.DeviceArray, len(in))
	for i, a := range in {
		arrays[i] = graph.DeviceArray{DType: src[i].DType, Shape: src[i].Shape, Arg: a}
	}
	f := hostFunc(n)
	return hostFailed(f, f.Collective.Start(d, graph.DeviceArray{DType: n.DType, Shape: n.Shape, Arg: out}, arrays))
}

// failCollectives tells the other ranks, if they wait for a collective of a plan that has failed.
func failCollectives(c *capture.Capture, err error) {
	if c.Begun < len(c.Inside) {
		hostFunc(c.Inside[0]).Collective.Fail(err)
	}
}
