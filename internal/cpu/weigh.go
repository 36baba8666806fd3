package cpu

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A weighRunner runs a kernel whose products are by weights (see [ir.Mul]): as ordinary products,
// which differ only where a weight of 0 meets NaN or Inf, and then if need be with a select for
// each product. Of 0 times NaN or Inf comes a NaN, which reaches a result.
type weighRunner struct {
	fast    runner
	selects func() *executable // compiled when first needed
	always  bool               // a NaN may not reach a result as such
	watched []span             // elements with which the selects are needed if any is not finite
	before  bool               // these are operands, because the results replace elements that the kernel reads
}

// A span is a range of elements of an argument, or without any its number.
type span struct {
	arg, from, n int
	typ          ir.DType
}

// weighs returns the products by weights of a kernel.
func weighs(k *ir.Kernel) []int {
	var list []int
	for i := range k.Body {
		if in := &k.Body[i]; in.Op == ir.Mul && in.Kind == ir.Where {
			list = append(list, i)
		}
	}
	return list
}

// newWeigh returns a runner of k, which is s, by a fast one.
func newWeigh(k *ir.Kernel, s *vector.Space, fast runner) *weighRunner {
	products := weighs(s.Kernel)
	r := &weighRunner{fast: fast, always: hidesNaN(s.Kernel, products)}
	r.selects = sync.OnceValue(func() *executable {
		exact := &vector.Space{Nest: loopnest.Canonical(selecting(k)), Tune: s.Tune}
		exact.Limits = exact.FindLimits()
		p := &executable{args: k.Args}
		if exact.Template == ir.Pointwise {
			p.runner = vector.NewPointwise(exact)
		} else {
			p.runner, p.extraBindings = newReduction(exact)
		}
		return p
	})
	for i := range s.Body {
		in := &s.Body[i]
		if in.Op == ir.Load && s.Args[in.Arg].Kind == ir.Out {
			r.before = true
		}
	}
	watch := func(in *ir.Instr) {
		if lo, hi := s.Extent(in); lo < hi {
			if w := (span{in.Arg, lo, hi - lo, s.Args[in.Arg].DType}); !slices.Contains(r.watched, w) {
				r.watched = append(r.watched, w)
			}
		}
	}
	if !r.before {
		for _, i := range s.Stores(0, false) {
			watch(&s.Body[i])
		}
		return r
	}
	factors := make([]int, len(products))
	for i, p := range products {
		factors[i] = s.Body[p].Src[1]
	}
	for i, needed := range s.Needs(factors, nil) {
		switch in := &s.Body[i]; {
		case !needed:
		case in.Op == ir.Load:
			r.always = r.always || !s.IsLoad(i)
			watch(in)
		case in.Op == ir.Scalar && in.Type.IsFloat():
			r.watched = append(r.watched, span{arg: in.Arg, typ: in.Type.ComputeType()})
		case in.Op == ir.Const && in.Type.IsFloat():
			x := in.Num.Float64(in.Type)
			r.always = r.always || x-x != 0
		}
	}
	return r
}

// hidesNaN reports whether a NaN among some values may leave no NaN in a result.
func hidesNaN(k *ir.Kernel, values []int) bool {
	reached := make([]bool, len(k.Body))
	for _, i := range values {
		reached[i] = true
	}
	for i := range k.Body {
		in := &k.Body[i]
		for n, j := range in.Src {
			if !reached[j] {
				continue
			}
			reached[i] = true
			cond := in.Op == ir.Where && n == 0
			if passes := in.Type.IsFloat() && in.Op != ir.Pow && !cond; !passes || in.Op == ir.Store && !k.Args[in.Arg].DType.IsFloat() {
				return true
			}
		}
	}
	return false
}

// selecting returns k with a select for each product by weights, so that a contraction becomes a
// reduction.
func selecting(k *ir.Kernel) *ir.Kernel {
	c := *k
	c.Axes, c.Body = slices.Clone(k.Axes), nil
	if k.Template == ir.Contraction {
		c.Template = ir.Reduce
		for a := range c.Axes {
			if role := &c.Axes[a].Role; *role == ir.K {
				*role = ir.Reduced
			} else {
				*role = ir.Parallel
			}
		}
	}
	at := make([]int, len(k.Body)) // of each instruction in the new body
	add := func(in ir.Instr) int {
		c.Body = append(c.Body, in)
		return len(c.Body) - 1
	}
	for i := range k.Body {
		in := k.Body[i]
		in.Src = slices.Clone(in.Src)
		for n, j := range in.Src {
			in.Src[n] = at[j]
		}
		if in.Op != ir.Mul || in.Kind != ir.Where {
			at[i] = add(in)
			continue
		}
		in.Kind = 0
		weight := c.Body[in.Src[0]]
		zero := add(ir.Instr{Op: ir.Const, Type: in.Type})
		none := add(ir.Instr{Op: ir.Eq, Type: ir.Bool, Src: []int{in.Src[0], zero}, Domain: weight.Domain})
		at[i] = add(ir.Instr{Op: ir.Where, Type: in.Type, Src: []int{none, zero, add(in)}, Domain: in.Domain})
	}
	return &c
}

func (r *weighRunner) Run(x *vector.Executor) error {
	if !r.always && (!r.before || r.finite(x)) {
		if err := r.fast.Run(x); err != nil || r.before || r.finite(x) {
			return err
		}
	}
	p := r.selects()
	x.Bind = append(x.Bind[:len(p.args)], make([]vector.Binding, p.extraBindings)...)
	return p.runner.Run(x)
}

// finite reports whether all watched elements are finite.
func (r *weighRunner) finite(x *vector.Executor) bool {
	for _, w := range r.watched {
		b := &x.Bind[w.arg]
		p, n := unsafe.Add(b.P, w.from*w.typ.Size()), w.n
		if n == 0 {
			p, n = unsafe.Pointer(&b.Bits), 1
		}
		if !vector.Finite(p, w.typ, n) {
			return false
		}
	}
	return true
}
