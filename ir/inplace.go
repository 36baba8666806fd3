package ir

import "slices"

// InPlace returns the kernel without argument in: it reads those elements as the elements that it
// replaces in argument out, see [Out]. Arguments after in move up. It reports false if a kernel
// cannot: each of in's elements has to be read where the only Store to out writes it, by a template
// that may read elements that it replaces, or in is the initial value of a Scatter's result; and in
// and out have to be of one type. A call's out is then the buffer that was in, from the same
// element on, which out's Part and Align have to allow.
func (k *Kernel) InPlace(out, in int) (*Kernel, bool) {
	from, to := &k.Args[in], &k.Args[out]
	if from.Kind != In || to.Kind != Out || from.DType != to.DType || from.Undefined || k.Routine() == HostCall {
		return nil, false
	}
	store := slices.IndexFunc(k.Body, func(x Instr) bool { return x.Op.Writes() && x.Arg == out })
	if store < 0 {
		return nil, false
	}
	c := *k
	c.Args = slices.Delete(slices.Clone(k.Args), in, in+1)
	c.Body = slices.Clone(k.Body)
	if k.Routine() == Scatter {
		if !slices.Contains(scatterWhole(k), in) {
			return nil, false
		}
		c.Args[out].Kept = true
	}
	for i := range c.Body {
		x := &c.Body[i]
		switch {
		case x.Op == Load && x.Arg == out: // another argument is read in place
			return nil, false
		case x.Op == Load && x.Arg == in:
			if !k.sameElements(x, &k.Body[store]) {
				return nil, false
			}
			x.Arg, x.View = out, k.Body[store].View
		}
		if x.usesArg() && x.Arg > in {
			x.Arg--
		}
		x.Domain = c.Varies(i)
	}
	return &c, Verify(&c) == nil
}

// sameElements reports whether a Load reads at each point the element that a Store writes there.
func (k *Kernel) sameElements(load, store *Instr) bool {
	if load.View.Off != store.View.Off || len(load.View.Guards) > 0 || len(load.Src) > 0 {
		return false
	}
	for a, axis := range k.Axes {
		if axis.Len != 1 && load.View.Coef[a] != store.View.Coef[a] {
			return false
		}
	}
	return true
}

// usesArg reports whether an instruction's Arg is an argument.
func (in *Instr) usesArg() bool {
	return in.Op == Load || in.Op == Scalar || in.Op.Writes()
}
