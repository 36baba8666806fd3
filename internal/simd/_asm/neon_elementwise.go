package main

import (
	"fmt"
	"strings"
)

// A neonOperation is an operation of one instruction, by the kind of elements. Those of
// types that it does not list are Go twins.
type neonOperation struct {
	operation
	float, signed, unsigned string
}

const words4 = " Int32 Uint32 "

var neonOperations = []neonOperation{
	{operation{op: "Neg", types: floats + words, arity: 1}, "FNEG", "NEG", "NEG"},
	{operation{op: "Sqrt", types: floats, arity: 1}, "FSQRT", "", ""},
	{operation{op: "Floor", types: floats, arity: 1}, "FRINTM", "", ""},
	{operation{op: "Add", types: floats + words, arity: 2, modes: "VV VS C"}, "FADD", "ADD", "ADD"},
	{operation{op: "Sub", types: floats + words, arity: 2, modes: "VV VS SV"}, "FSUB", "SUB", "SUB"},
	{operation{op: "Mul", types: floats + words4, arity: 2, modes: "VV VS C"}, "FMUL", "MUL", "MUL"},
	{operation{op: "Div", types: floats, arity: 2, modes: "VV VS SV"}, "FDIV", "", ""},
	{operation{op: "Max", types: floats + words4, arity: 2, modes: "VV VS C", sign: true}, "FMAX", "SMAX", "UMAX"},
	{operation{op: "Min", types: floats + words4, arity: 2, modes: "VV VS C", sign: true}, "FMIN", "SMIN", "UMIN"},
}

// instruction is the instruction for a kind of elements.
func (o neonOperation) instruction(k kind) string {
	switch {
	case k.float:
		return o.float
	case k.signed:
		return o.signed
	}
	return o.unsigned
}

// elementwise writes the routines of operations.
func (w *neon) elementwise() {
	for _, o := range neonOperations {
		for _, k := range kinds {
			if !strings.Contains(o.types, " "+k.ir+" ") {
				continue
			}
			name := strings.ToLower(o.op) + k.shared(o.operation)
			if o.arity == 1 {
				w.row("unaries", "ir.%s, ir.%s, %s", o.op, k.ir, w.map1(name, k.size, o.instruction(k)))
				continue
			}
			modes := strings.Fields(o.modes)
			var names []string
			for _, m := range modes {
				if m != "C" {
					names = append(names, w.map2(name, m, k.size, o.instruction(k)))
				}
			}
			format := "ir.%s, ir.%s, Modes{%s}"
			if modes[2] == "C" {
				format = "ir.%s, ir.%s, commute(%s)"
			}
			w.row("binaries", format, o.op, k.ir, strings.Join(names, ", "))
		}
	}
}

// new reports whether no routine has the name yet.
func (w *neon) new(name string) bool {
	if w.written[name] {
		return false
	}
	w.written[name] = true
	return true
}

// map1 writes a routine of one operand.
func (w *neon) map1(name string, size int, instruction string) string {
	name += "NEON"
	if !w.new(name) {
		return name
	}
	w.begin(name, "dst x", "n")
	const dst, x, n = 0, 1, 2
	for _, s := range strips {
		w.loop(n, s.elements(size), func() {
			w.load(s, size, x, 0)
			for i := range s.registers {
				w.op(instruction, size, i, i)
			}
			w.store(s, size, 0, dst)
		})
	}
	w.do("RET")
	return name
}

// map2 writes a routine of two operands, which are runs or single elements by the letters
// of mode: V or S.
func (w *neon) map2(name, mode string, size int, instruction string) string {
	name = fmt.Sprint(name, mode, "NEON")
	if !w.new(name) {
		return name
	}
	w.begin(name, "dst x y", "n")
	const dst, n = 0, 3
	for i, m := range mode {
		if m == 'S' {
			w.splat(size, 1+i, 4*i)
		}
	}
	for _, s := range strips {
		w.loop(n, s.elements(size), func() {
			for i, m := range mode {
				if m == 'V' {
					w.load(s, size, 1+i, 4*i)
				}
			}
			operand := func(i, register int) int {
				if mode[i] == 'S' {
					return 4 * i
				}
				return 4*i + register
			}
			for i := range s.registers {
				w.op(instruction, size, 16+i, operand(0, i), operand(1, i))
			}
			w.store(s, size, 16, dst)
		})
	}
	w.do("RET")
	return name
}
