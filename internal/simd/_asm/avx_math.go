package main

import (
	"slices"

	"github.com/mmcloughlin/avo/reg"
)

// math writes the functions.
func (f *file) math() {
	for _, t := range f.targets {
		for _, set := range functions {
			for _, fn := range set.rows {
				t.function(set, fn)
			}
		}
	}
}

// function writes a function's routines and their row.
func (t *target) function(set functionSet, fn function) {
	l := t.floats(set.lanes)
	widened := func(x []vec) []vec {
		if set.lanes == set.size {
			return x
		}
		var wide []vec
		for _, v := range x {
			wide = append(wide, t.v("VCVTPS2PD", t.part(v, t.width/2)))
		}
		return wide
	}
	r := routine{name: set.routine(fn), sizes: slices.Repeat([]int{set.size}, fn.arity), out: set.size, wide: set.lanes}
	r.body = func(t *target, x []vec) reg.Register {
		v := fn.body(l, widened(x))
		if set.lanes == set.size {
			return v
		}
		return short("VCVTPD2PS")(t, v)
	}
	if fn.rare != nil {
		r.rare = func(t *target, x []vec) mask { return fn.rare(l, widened(x)) }
	}
	field, row := set.row(fn, func(mode string) string {
		if mode == "" {
			return t.write(r)
		}
		return t.write(r.mode(mode))
	})
	t.row(field, "%s", row)
}
