package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/reg"
)

// A kind is a type of elements.
type kind struct {
	name, ir string
	size     int
	letter   string // of instructions
	float    bool
	signed   bool
}

var kinds = []kind{
	{"Bool", "Bool", 1, "B", false, false},
	{"U8", "Uint8", 1, "B", false, false},
	{"I8", "Int8", 1, "B", false, true},
	{"I32", "Int32", 4, "D", false, true},
	{"U32", "Uint32", 4, "D", false, false},
	{"I64", "Int64", 8, "Q", false, true},
	{"F32", "Float32", 4, "PS", true, true},
	{"F64", "Float64", 8, "PD", true, true},
}

// A body computes the result of an operation on elements of a type.
type body func(t *target, k kind, x []vec) reg.Register

// An operation is an elementwise operation, whose body is called with elements of each
// type that it lists.
type operation struct {
	op     string // of package ir
	types  string
	arity  int
	modes  string // of binary operations: C for a commutative one
	sign   bool   // integers with and without a sign differ
	bools  bool
	body   body
	beside *beside
}

// A beside computes an operation on floats x and y, where y is one element: from x, y and
// rest, which is y if y is NaN or 0, and other otherwise.
type beside struct {
	other uint64 // its high bits
	body  func(l avx, x, y, rest vec) vec
}

const (
	floats   = " Float32 Float64 "
	integers = " Uint8 Int8 Int32 Uint32 Int64 "
	words    = " Int32 Uint32 Int64 "
	all      = floats + integers + " Bool "
)

var operations = []operation{
	{op: "Neg", types: floats + words, arity: 1, body: neg},
	{op: "Not", types: integers + " Bool ", arity: 1, body: not},
	{op: "Sqrt", types: floats, arity: 1, body: func(t *target, k kind, x []vec) reg.Register { return t.v("VSQRT"+k.letter, x[0]) }},
	{op: "Floor", types: floats, arity: 1, body: func(t *target, k kind, x []vec) reg.Register { return t.of(k).floor(x[0]) }},
	{op: "Add", types: floats + words, arity: 2, modes: "VV VS C", body: instruction("ADD")},
	{op: "Sub", types: floats + words, arity: 2, modes: "VV VS SV", body: instruction("SUB")},
	{op: "Mul", types: floats + words, arity: 2, modes: "VV VS C", body: mul},
	{op: "Div", types: floats, arity: 2, modes: "VV VS SV", body: instruction("DIV")},
	{op: "Max", types: floats + words + " Bool ", arity: 2, modes: "VV VS C", sign: true, body: extreme("MAX", avx.largest), beside: &beside{1 << 63, avx.largestBeside}},
	{op: "Min", types: floats + words + " Bool ", arity: 2, modes: "VV VS C", sign: true, body: extreme("MIN", avx.smallest), beside: &beside{0, avx.smallestBeside}},
	{op: "Eq", types: all, arity: 2, modes: "VV VS C", bools: true, body: relation(equal)},
	{op: "Lt", types: all, arity: 2, modes: "VV VS SV", sign: true, bools: true, body: relation(less)},
	{op: "And", types: integers + " Bool ", arity: 2, modes: "VV VS C", body: bitwise("VAND")},
	{op: "Or", types: integers + " Bool ", arity: 2, modes: "VV VS C", body: bitwise("VOR")},
	{op: "Xor", types: integers + " Bool ", arity: 2, modes: "VV VS C", body: bitwise("VXOR")},
	{op: "Shl", types: words, arity: 2, modes: "VV VS", body: shift("VPSLLV", "VPSLLV")},
	{op: "Shr", types: words, arity: 2, modes: "VV VS", sign: true, body: shift("VPSRAV", "VPSRLV")},
}

// of has the instructions on floating-point numbers.
func (t *target) of(k kind) avx { return t.floats(k.size) }

// instruction is the operation of one instruction, V…PS or VP…D.
func instruction(name string) body {
	return func(t *target, k kind, x []vec) reg.Register {
		if k.float {
			return t.v("V"+name+k.letter, x[1], x[0])
		}
		return t.v("VP"+name+k.letter, x[1], x[0])
	}
}

func mul(t *target, k kind, x []vec) reg.Register {
	if k.float {
		return t.of(k).mul(x[0], x[1])
	}
	return t.v("VPMULL"+k.letter, x[1], x[0])
}

func neg(t *target, k kind, x []vec) reg.Register {
	switch {
	case k.float && k.size == 4:
		return t.v("VXORPS", i32(1<<31), x[0])
	case k.float:
		return t.v("VXORPD", i64(1<<63), x[0])
	}
	return t.v("VPSUB"+k.letter, x[0], t.broadcast(i32(0)))
}

func not(t *target, k kind, x []vec) reg.Register {
	if k.name == "Bool" {
		return t.v("VXORPS", bytes4(1), x[0])
	}
	return t.v("VXORPS", bytes4(0xff), x[0])
}

func bitwise(name string) body {
	return func(t *target, _ kind, x []vec) reg.Register { return t.v(name+"PS", x[1], x[0]) }
}

func shift(signed, unsigned string) body {
	return func(t *target, k kind, x []vec) reg.Register {
		name := unsigned
		if k.signed {
			name = signed
		}
		return t.v(name+k.letter, x[1], x[0])
	}
}

func extreme(name string, float func(l avx, x, y vec) vec) body {
	return func(t *target, k kind, x []vec) reg.Register {
		switch {
		case k.float:
			return float(t.of(k), x[0], x[1])
		case k.signed:
			return t.v("VP"+name+"S"+k.letter, x[1], x[0])
		}
		return t.v("VP"+name+"U"+k.letter, x[1], x[0])
	}
}

// relation is equal or less.
func relation(predicate int) body {
	return func(t *target, k kind, x []vec) reg.Register {
		switch {
		case k.float:
			return t.of(k).compare(predicate, x[0], x[1])
		case predicate == equal:
			return t.masked("VPCMPEQ"+k.letter, x[1], x[0])
		case k.signed:
			return t.masked("VPCMPGT"+k.letter, x[0], x[1])
		case t.avx512():
			return t.masked("VPCMPU"+k.letter, 1, x[1], x[0])
		}
		// With the highest bit flipped, unsigned numbers compare as signed ones.
		flip := i32(1 << 31)
		if k.size == 1 {
			flip = bytes4(1 << 7)
		}
		return t.masked("VPCMPGT"+k.letter, t.v("VXORPS", flip, x[0]), t.v("VXORPS", flip, x[1]))
	}
}

// where chooses by the bools in x[0].
func where(size int) func(t *target, x []vec) reg.Register {
	return func(t *target, x []vec) reg.Register {
		letter := map[int]string{1: "B", 4: "D", 8: "Q"}[size]
		if t.avx512() {
			return t.v("VPBLENDM"+letter, x[1], x[2], t.masked("VPTESTMB", x[0], x[0]))
		}
		// The blends read the highest bit of each lane.
		if size == 1 {
			return t.v("VPBLENDVB", t.v("VPSLLW", 7, x[0]), x[1], x[2])
		}
		c := t.v("VPMOVZXB"+letter, x[0].AsX())
		if size == 4 {
			return t.v("VBLENDVPS", t.v("VPSLLD", 31, c), x[1], x[2])
		}
		return t.v("VBLENDVPD", t.v("VPSLLQ", 63, c), x[1], x[2])
	}
}

// elementwise writes the routines of operations, of Where and of functions.
func (f *file) elementwise() {
	for _, o := range operations {
		for _, k := range kinds {
			if !strings.Contains(o.types, " "+k.ir+" ") {
				continue
			}
			r := routine{name: strings.ToLower(o.op) + k.shared(o), sizes: slices.Repeat([]int{k.size}, o.arity), out: k.size, bools: o.bools}
			if o.bools {
				r.out = 1
			}
			for _, t := range f.targets {
				if !t.supports(o, k) {
					continue
				}
				r := r
				r.body = func(t *target, x []vec) reg.Register { return o.body(t, k, x) }
				if o.arity == 1 {
					t.row("unaries", "ir.%s, ir.%s, %s", o.op, k.ir, t.write(r))
					continue
				}
				names := map[string]string{"VV": "nil", "VS": "nil", "SV": "nil"}
				for m := range strings.FieldsSeq(o.modes) {
					if m != "C" {
						names[m] = t.write(o.mode(r, k, m))
					}
				}
				modes := fmt.Sprintf("Modes{%s, %s, %s}", names["VV"], names["VS"], names["SV"])
				if strings.HasSuffix(o.modes, "C") {
					modes = fmt.Sprintf("commute(%s, %s)", names["VV"], names["VS"])
				}
				t.row("binaries", "ir.%s, ir.%s, %s", o.op, k.ir, modes)
			}
		}
	}
	for _, t := range f.targets {
		for _, size := range []int{4, 8} {
			fill := routine{name: fmt.Sprint("fill", 8*size), sizes: []int{size}, single: []bool{true}, out: size, body: same}
			t.row("fills", "%d, %s", size, t.write(fill))
		}
		for _, size := range []int{1, 4, 8} {
			r := routine{name: fmt.Sprint("where", 8*size), sizes: []int{1, size, size}, out: size, body: where(size)}
			var names []string
			for _, m := range []string{"VVV", "VVS", "VSV", "VSS"} {
				names = append(names, t.write(r.mode(m)))
			}
			t.row("wheres", "%d, Choices{%s}", size, strings.Join(names, ", "))
		}
		for _, k := range kinds {
			if k.float {
				t.row("clamps", "ir.%s, Clamp{%s, %s}", k.ir, t.write(k.clamp("Low", 0, 1)), t.write(k.clamp("High", 1, 0)))
			}
		}
	}
}

// clamp returns a routine of operands x, a limit and another number, which it gives where operand low is less than
// operand high.
func (k kind) clamp(name string, low, high int) routine {
	r := routine{name: "clamp" + name + k.name, sizes: []int{k.size, k.size, k.size}, out: k.size}
	r.body = func(t *target, x []vec) reg.Register {
		return t.of(k).choose(t.of(k).compare(less, x[low], x[high]), x[2], x[0])
	}
	return r.mode("VSS")
}

// shared is the end of the name of an operation's routine, which types share whose
// elements it computes alike.
func (k kind) shared(o operation) string {
	switch {
	case k.float || o.op == "Not" && k.name == "Bool":
		return k.name
	case o.sign && k.signed:
		return fmt.Sprint("I", 8*k.size)
	case o.sign:
		return fmt.Sprint("U", 8*k.size)
	}
	return fmt.Sprint(8 * k.size)
}

// mode is [routine.mode], computed by o.beside where there is one.
func (o operation) mode(r routine, k kind, letters string) routine {
	r = r.mode(letters)
	if b := o.beside; b != nil && k.float && letters == "VS" {
		r.made = func(t *target, fixed []vec) vec {
			l, y := t.of(k), fixed[1]
			return l.choose(l.compare(less, l.broadcast(l.num(0)), l.abs(y)), l.broadcast(l.bits(b.other)), y)
		}
		r.body = func(t *target, x []vec) reg.Register { return b.body(t.of(k), x[0], x[1], x[2]) }
	}
	return r
}

// mode returns the routine whose operands are runs or single elements: V or S.
func (r routine) mode(letters string) routine {
	r.name += letters
	r.single = nil
	for _, l := range letters {
		r.single = append(r.single, l == 'S')
	}
	return r
}

// supports reports whether a level has the instructions of an operation.
func (t *target) supports(o operation, k kind) bool {
	if t.avx512() || k.size < 8 || k.float {
		return true
	}
	return !slices.Contains([]string{"Mul", "Max", "Min"}, o.op) && !(o.op == "Shr" && k.signed)
}
