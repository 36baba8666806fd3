package main

import (
	"fmt"
	"strings"
)

// A function is a routine on floating-point numbers, whose body is written for every level.
type function struct {
	op    string
	arity int
	body  func(l lanes, x []vec) vec
	// rare returns where the Go twin computes the result; nil for nowhere.
	rare func(l lanes, x []vec) mask
}

// of1 and of2 make functions of one operand and of two.

func of1(op string, body func(l lanes, x vec) vec) function {
	return function{op: op, arity: 1, body: func(l lanes, x []vec) vec { return body(l, x[0]) }}
}

func of2(op string, body func(l lanes, x, y vec) vec) function {
	return function{op: op, arity: 2, body: func(l lanes, x []vec) vec { return body(l, x[0], x[1]) }}
}

// except returns the function but for rare operands.
func (f function) except(rare func(l lanes, x []vec) mask) function {
	f.rare = rare
	return f
}

// A functionSet has functions on elements of a type, and the size of the lanes that they are
// computed in.
type functionSet struct {
	typ, name   string
	size, lanes int // in bytes
	rows        []function
}

var functions = []functionSet{
	{"Float32", "F32", 4, 4, functions32},
	{"Float64", "F64", 8, 8, functions64},
	{"Float32", "F32", 4, 8, functionsWide},
}

// functionsWide are computed in float64: they are off by little more than ½ ulp.
var functionsWide = []function{
	of2("Pow", pow),
	of2("Rem", rem).except(farApart),
}

// routine is the name of a function's routine, without mode and level.
func (s functionSet) routine(f function) string { return strings.ToLower(f.op) + s.name }

// row returns a function's row and the table that it is in. write writes the routine of a
// mode, "" for one operand, and returns its name.
func (s functionSet) row(f function, write func(mode string) string) (field, row string) {
	if f.arity == 2 {
		vv, vs := write("VV"), write("VS")
		if f.rare != nil {
			twin := fmt.Sprintf("Binaries[ir.%s][ir.%s].VV", f.op, s.typ)
			vv, vs = fmt.Sprintf("patched2(%s, %d, %d, %s)", vv, s.size, s.size, twin), fmt.Sprintf("patched2(%s, %d, 0, %s)", vs, s.size, twin)
		}
		return "binaries", fmt.Sprintf("ir.%s, ir.%s, Modes{%s, %s, nil}", f.op, s.typ, vv, vs)
	}
	routine := write("")
	if f.rare != nil {
		routine = fmt.Sprintf("patched(%s, %d, Unaries[ir.%s][ir.%s])", routine, s.size, f.op, s.typ)
	}
	return "unaries", fmt.Sprintf("ir.%s, ir.%s, %s", f.op, s.typ, routine)
}
