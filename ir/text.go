package ir

import "strconv"

// String returns the template's name, such as "reduce".
func (s Template) String() string {
	if s == 0 || int(s) >= len(templates) {
		return "unknown"
	}
	return templates[s].name
}

var roleNames = [...]string{"no role", "parallel", "reduced", "batch", "m", "n", "k", "width"}

// String returns the role's name, such as "reduced".
func (r Role) String() string { return name(roleNames[:], int(r)) }

var argNames = [...]string{"no kind", "in", "out", "value", "status"}

// String returns the kind's name, such as "in".
func (a ArgKind) String() string { return name(argNames[:], int(a)) }

func name(names []string, i int) string {
	if i >= len(names) {
		i = 0
	}
	return names[i]
}

// String returns the axes in braces, such as "{0 2}".
func (s AxisSet) String() string { return string(s.append(nil)) }

func (s AxisSet) append(b []byte) []byte {
	b = append(b, '{')
	for a, n := 0, 0; s != 0; a, s = a+1, s>>1 {
		if s&1 == 0 {
			continue
		}
		if n++; n > 1 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(a), 10)
	}
	return append(b, '}')
}

// String returns the kernel as text, a line for its axes and for each
// argument and instruction. Equal texts are equal kernels: the text has all
// that matters to a device, and no field that an instruction does not use.
// A softmax over the rows of a 4×8 matrix is
//
//	reduce i0:4 i1:8 reduced
//	a0 in float32
//	a1 out float32[32]
//	%0 float32{0 1} = Load a0[8*i0 + i1]
//	%1 float32{0} = ReduceMax %0 over {1}
//	%2 float32{0 1} = Sub %0 %1
//	%3 float32{0 1} = Exp %2
//	%4 float32{0} = Sum %3 over {1}
//	%5 float32{0 1} = Div %3 %4
//	%6 float32{0 1} = Store %5 a1[8*i0 + i1]
//
// A view's brackets hold its position, the index that is added to it with its
// limit, its guards, and the fill: a0[i0 + 3*%2 <10; 0 <= i0 - 1 <4; else 0].
func (k *Kernel) String() string {
	return string(k.Append(make([]byte, 0, 64*(1+len(k.Args)+len(k.Body)))))
}

// Append appends the text of String to b.
func (k *Kernel) Append(b []byte) []byte {
	b = append(b, k.name()...)
	for i, a := range k.Axes {
		b = appendName(append(b, ' '), 'i', i)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(a.Len), 10)
		if a.Role != Parallel {
			b = append(b, ' ')
			b = append(b, a.Role.String()...)
		}
	}
	b = append(b, '\n')
	for i := range k.Args {
		b = k.Args[i].append(b, i)
	}
	for i := range k.Body {
		b = k.Body[i].Append(b, i)
	}
	return b
}

func (a *Arg) append(b []byte, i int) []byte {
	b = appendName(b, 'a', i)
	b = append(b, ' ')
	b = append(b, a.Kind.String()...)
	b = append(b, ' ')
	b = append(b, a.DType.String()...)
	if a.Kind == Out {
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(a.Len), 10)
		b = append(b, ']')
	}
	if a.Part {
		b = append(b, " part"...)
	}
	if a.Undefined {
		b = append(b, " undefined"...)
	}
	if a.Kept {
		b = append(b, " kept"...)
	}
	if a.Align {
		b = append(b, " aligned"...)
	}
	return append(b, '\n')
}

// appendName appends a letter and a number: i0 is an axis, a0 an argument, %0
// the result of an instruction.
func appendName(b []byte, letter byte, i int) []byte {
	return strconv.AppendInt(append(b, letter), int64(i), 10)
}

// Append appends the instruction's line in the text of a kernel; i is its number.
func (in *Instr) Append(b []byte, i int) []byte {
	b = appendName(b, '%', i)
	b = append(b, ' ')
	b = append(b, in.Type.String()...)
	b = in.Domain.append(b)
	b = append(b, " = "...)
	b = append(b, in.Op.String()...)
	operands, index := in.Src, -1
	if in.UsesIndex() {
		operands, index = in.Src[1:], in.Src[0]
	}
	if in.Kind != 0 {
		b = append(b, ' ')
		b = append(b, in.Kind.String()...)
	}
	for _, j := range operands {
		b = appendName(append(b, ' '), '%', j)
	}
	switch in.Op {
	case Const:
		b = append(b, ' ')
		b = append(b, in.Num.Text(in.Type)...)
	case Scalar:
		b = appendName(append(b, ' '), 'a', in.Arg)
	case Index:
		b = appendName(append(b, ' '), 'i', in.Axis)
	case InBounds:
		b = append(b, " ["...)
		b = in.View.appendGuards(b, "")
		b = append(b, ']')
	case Load, Store, Scatter, Scan, Sort:
		b = appendName(append(b, ' '), 'a', in.Arg)
		b = append(b, '[')
		b = in.View.append(b, index)
		if in.Op == Load && (index >= 0 || len(in.View.Guards) > 0) {
			b = append(b, "; else "...)
			b = append(b, in.View.Fill.Text(in.Type)...)
		}
		if in.Op == Sort {
			b = strconv.AppendInt(append(b, " + "...), int64(in.View.Stride), 10)
			b = strconv.AppendInt(append(b, "*place <"...), int64(in.View.Len), 10)
		}
		b = append(b, ']')
	}
	if in.Op.Class() == Reduction {
		b = append(b, " over "...)
		b = in.Axes.append(b)
	}
	return append(b, '\n')
}

// append appends a view, with the instruction whose value is part of the
// position, or -1.
func (v *View) append(b []byte, index int) []byte {
	b = appendSum(b, v.Off, v.Coef)
	if index >= 0 {
		b = append(b, " + "...)
		if v.Stride != 1 {
			b = strconv.AppendInt(b, int64(v.Stride), 10)
			b = append(b, '*')
		}
		b = appendName(b, '%', index)
		b = append(b, " <"...)
		b = strconv.AppendInt(b, int64(v.Len), 10)
	}
	return v.appendGuards(b, "; ")
}

// appendGuards appends the guards, the first after a separator.
func (v *View) appendGuards(b []byte, sep string) []byte {
	for i := range v.Guards {
		g := &v.Guards[i]
		b = append(b, sep...)
		b = append(b, "0 <= "...)
		if g.Div != 1 {
			b = append(b, '(')
		}
		b = appendSum(b, g.Off, g.Coef)
		if g.Div != 1 {
			b = append(b, ")/"...)
			b = strconv.AppendInt(b, int64(g.Div), 10)
		}
		b = append(b, " <"...)
		b = strconv.AppendInt(b, int64(g.Len), 10)
		if g.Stride != 0 {
			b = append(b, " *"...)
			b = strconv.AppendInt(b, int64(g.Stride), 10)
		}
		sep = "; "
	}
	return b
}

// appendSum appends an affine expression without its division: 8*i0 + i1 - 3.
func appendSum(b []byte, off int, coef []int) []byte {
	first := true
	sign := func(negative bool) {
		switch {
		case first && negative:
			b = append(b, '-')
		case negative:
			b = append(b, " - "...)
		case !first:
			b = append(b, " + "...)
		}
		first = false
	}
	for a, c := range coef {
		if c == 0 {
			continue
		}
		sign(c < 0)
		if c = max(c, -c); c != 1 {
			b = strconv.AppendInt(b, int64(c), 10)
			b = append(b, '*')
		}
		b = appendName(b, 'i', a)
	}
	if off != 0 || first {
		sign(off < 0)
		b = strconv.AppendInt(b, int64(max(off, -off)), 10)
	}
	return b
}
