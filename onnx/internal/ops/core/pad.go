package core

import (
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// padModes has the modes but constant.
var padModes = map[string]tensor.PadMode{"reflect": tensor.Reflect, "edge": tensor.Replicate, "wrap": tensor.Circular}

// pad takes pads, a value and axes; pads and value were attributes before version 11. A negative pad
// takes elements away.
func pad(c *op.Call) T {
	x := c.Tensor(0)
	pads, ok := c.IntsInputOrAttr(1, "pads")
	if !ok {
		if pads = c.IntsAttr("paddings"); pads == nil { // the name in version 1
			c.Fail("it has no pads")
		}
	}
	var axes []int
	if c.Has(3) {
		axes = c.Axes(c.Ints(3), x.Rank())
	} else {
		for a := range x.Rank() {
			axes = append(axes, a)
		}
	}
	if len(pads) != 2*len(axes) {
		c.Fail("pads are %v for %d axes", pads, len(axes))
	}
	name := c.String("mode", "constant")
	mode, ok := padModes[name]
	if !ok && name != "constant" {
		c.Fail("there is no mode %q", name)
	}
	inside := tensor.OnesOf(tensor.Bool, x.Shape()...)
	added := false
	for i, a := range axes {
		before, after := pads[i], pads[i+len(axes)]
		cut := func(t T) T { return t.Slice(a, max(-before, 0), t.Dim(a)-max(-after, 0)) }
		if max(-before, 0)+max(-after, 0) > x.Dim(a) {
			c.Fail("pads of %d and %d take more than the %d elements of axis %d", before, after, x.Dim(a), a)
		}
		x, inside = cut(x), cut(inside)
		before, after = max(before, 0), max(after, 0)
		if before+after == 0 {
			continue
		}
		if ok {
			x = padBy(x, a, before, after, mode)
			continue
		}
		added = true
		x, inside = x.Pad(a, before, after), inside.Pad(a, before, after)
	}
	if !added {
		return x
	}
	if c.Has(2) {
		return tensor.Where(inside, x, c.Tensor(2).Reshape())
	}
	if v := c.Float("value", 0); v != 0 {
		return tensor.Where(inside, x, v)
	}
	return x
}

// padBy pads by a mode, several times where the pad is longer than the axis.
func padBy(x T, axis, before, after int, mode tensor.PadMode) T {
	for before > 0 || after > 0 {
		most := x.Dim(axis)
		switch mode {
		case tensor.Reflect:
			most--
		case tensor.Replicate:
			most = max(before, after)
		}
		if most < 1 {
			return x.PadMode(axis, before, after, mode) // which says why not
		}
		b, a := min(before, most), min(after, most)
		if mode == tensor.Circular && b < before { // whole turns keep their phase
			a = min(a, after)
		}
		x = x.PadMode(axis, b, a, mode)
		before, after = before-b, after-a
	}
	return x
}

// centerCropPad cuts or pads axes around their center, to the lengths in input 1.
func centerCropPad(c *op.Call) T {
	x, to := c.Tensor(0), c.Ints(1)
	axes := c.IntsAttr("axes")
	if axes == nil {
		for a := range x.Rank() {
			axes = append(axes, a)
		}
	}
	if len(to) != len(axes) {
		c.Fail("shape %v for %d axes", to, len(axes))
	}
	for i, a := range c.Axes(axes, x.Rank()) {
		n := x.Dim(a)
		if to[i] < n {
			start := (n - to[i]) / 2
			x = x.Slice(a, start, start+to[i])
		} else if to[i] > n {
			before := (to[i] - n) / 2
			x = x.Pad(a, before, to[i]-n-before)
		}
	}
	return x
}
