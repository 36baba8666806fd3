package wgsl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/ir"
)

// A sum is a whole number in every lane: base + step[l], or each[l].
type sum struct {
	base string
	step []int
	each []string
}

func (x *sum) lanes() int { return max(1, len(x.step), len(x.each)) }

func (x *sum) lane(l int) string {
	switch {
	case x.each != nil:
		return x.each[l]
	case x.step != nil && x.step[l] > 0:
		return fmt.Sprintf("%s + %d", x.base, x.step[l])
	case x.step != nil && x.step[l] < 0:
		return fmt.Sprintf("%s - %d", x.base, -x.step[l])
	}
	return x.base
}

// terms is a sum under construction.
type terms struct{ b strings.Builder }

func (t *terms) add(coef int, x string) {
	if coef == 0 || x == "0" {
		return
	}
	if strings.ContainsAny(x, " ") {
		x = "(" + x + ")"
	}
	switch sign := coef < 0; {
	case t.b.Len() > 0 && sign:
		t.b.WriteString(" - ")
	case t.b.Len() > 0:
		t.b.WriteString(" + ")
	case sign:
		t.b.WriteString("-")
	}
	if coef = abs(coef); coef != 1 {
		fmt.Fprintf(&t.b, "%d * ", coef)
	}
	t.b.WriteString(x)
}

func (t *terms) number(n int) {
	switch {
	case n == 0 && t.b.Len() > 0:
	case t.b.Len() == 0:
		fmt.Fprintf(&t.b, "%d", n)
	case n < 0:
		fmt.Fprintf(&t.b, " - %d", -n)
	default:
		fmt.Fprintf(&t.b, " + %d", n)
	}
}

// linear is off + Σ coef[a]·a + Σ more.
func (sc *scope) linear(off int, coef []int, more ...string) sum {
	lanes, affine := 1, true
	for a, c := range coef {
		if c == 0 {
			continue
		}
		co, _ := sc.coord(a)
		if len(co.at) > 1 {
			lanes = len(co.at)
			affine = affine && co.step != nil
		}
	}
	of := func(l int) string {
		var t terms
		for a, c := range coef {
			if c != 0 {
				co, _ := sc.coord(a)
				t.add(c, value(co.at).lane(l))
			}
		}
		for _, m := range more {
			t.add(1, m)
		}
		t.number(off)
		return t.b.String()
	}
	x := sum{base: of(0)}
	if lanes == 1 {
		return x
	}
	if affine {
		x.step = make([]int, lanes)
		for a, c := range coef {
			if c == 0 {
				continue
			}
			if co, _ := sc.coord(a); len(co.at) > 1 {
				for l := range x.step {
					x.step[l] += c * co.step[l]
				}
			}
		}
		return x
	}
	x.each = make([]string, lanes)
	for l := range x.each {
		x.each[l] = of(l)
	}
	return x
}

// A verdict says whether a guard holds.
type verdict uint8

const (
	sometimes verdict = iota
	always
	never
)

// judge says at how many points a guard holds.
func (s *shader) judge(g *ir.Guard) verdict {
	lo, hi := g.Off, g.Off
	for a, c := range g.Coef {
		lo += min(0, c*(s.k.Axes[a].Len-1))
		hi += max(0, c*(s.k.Axes[a].Len-1))
	}
	limit := g.Len * g.Div
	switch {
	case hi < 0 || lo >= limit || lo == hi && lo%g.Div != 0:
		return never
	case lo >= 0 && hi < limit && (g.Div == 1 || lo == hi):
		return always
	}
	return sometimes
}

// guards gives the conditions of a view's guards in each lane, none if they
// always hold, and their parts of the position. It reports false if they
// never hold.
func (sc *scope) guards(v *ir.View) (conditions, parts []sum, ok bool) {
	for i := range v.Guards {
		g := &v.Guards[i]
		judged := sc.s.judge(g)
		if judged == never {
			return nil, nil, false
		}
		form := sc.linear(g.Off, g.Coef)
		lanes := form.lanes()
		c, p := sum{each: make([]string, lanes)}, sum{each: make([]string, lanes)}
		for l := range lanes {
			f := form.lane(l)
			c.each[l] = fmt.Sprintf("u32(%s) < %du", f, min(g.Len*g.Div, 1<<31))
			if g.Div > 1 {
				c.each[l] += fmt.Sprintf(" && (%s) %% %d == 0", f, g.Div)
			}
			p.each[l] = fmt.Sprintf("%d * ((%s) / %d)", g.Stride, f, g.Div)
		}
		if judged != always {
			conditions = append(conditions, c)
		}
		if g.Stride != 0 {
			parts = append(parts, p)
		}
	}
	return conditions, parts, true
}

func most(x []sum) int {
	n := 1
	for i := range x {
		n = max(n, x[i].lanes())
	}
	return n
}

// at is a sum in a lane, which may be the only one.
func at(x *sum, l int) string {
	if x.lanes() == 1 {
		l = 0
	}
	return x.lane(l)
}

// all joins conditions in a lane.
func all(x []sum, l int) string {
	list := make([]string, len(x))
	for i := range x {
		list[i] = at(&x[i], l)
	}
	return strings.Join(list, " && ")
}

func (sc *scope) inside(i int) value {
	conditions, _, ok := sc.guards(sc.s.k.Body[i].View)
	if len(conditions) == 0 {
		return sc.let(i, []string{strconv.FormatBool(ok)})
	}
	list := make([]string, most(conditions))
	for l := range list {
		list[l] = all(conditions, l)
	}
	return sc.let(i, list)
}

// vectors reports whether lanes of a view, four by four, are elements that
// one vector access covers.
func (sc *scope) vectors(v *ir.View, index value) bool {
	if v.Off%4 != 0 || len(index) > 1 || index != nil && v.Stride%4 != 0 {
		return false
	}
	count := 0
	for a, c := range v.Coef {
		if c == 0 {
			continue
		}
		switch co, _ := sc.coord(a); {
		case co.at[0] == "0" && len(co.at) == 1:
		case co.quads == counting:
			if c != 1 {
				return false
			}
			count++
		case len(co.at) > 1 && co.quads != still || c%4 != 0:
			return false
		}
	}
	for i := range v.Guards {
		g := &v.Guards[i]
		if sc.s.judge(g) == always && g.Stride == 0 {
			continue
		}
		if g.Stride%4 != 0 {
			return false
		}
		for a, c := range g.Coef {
			if c == 0 {
				continue
			}
			if co, _ := sc.coord(a); len(co.at) > 1 && co.quads != still {
				return false
			}
		}
	}
	return count == 1
}

// load reads an element in each lane.
func (sc *scope) load(i int) value {
	s := sc.s
	in := &s.k.Body[i]
	v, d := in.View, s.k.Args[in.Arg].DType
	st := &storages[d]
	conditions, parts, ok := sc.guards(v)
	if !ok {
		return sc.let(i, []string{s.opaque(in.Type, v.Fill)})
	}
	var index value
	more := []string{s.offset(in.Arg)}
	if len(in.Src) > 0 {
		index = sc.value(in.Src[0])
	}
	pos := sc.linear(v.Off, v.Coef, more...)
	lanes := max(pos.lanes(), most(conditions), len(index))
	vector := s.k.Args[in.Arg].Align && lanes%4 == 0 && !s.one[in.Arg] && sc.vectors(v, index)
	b := s.argument(in.Arg, vector)
	vector = vector && !s.one[in.Arg]
	group := 1
	if vector {
		group = 4
	}
	result := make(value, lanes)
	for l := range result {
		result[l] = sc.name(i, l, lanes)
	}
	for l := 0; l < lanes; l += group {
		names := result[l : l+group]
		place := at(&pos, l)
		for k := range parts {
			place += " + " + at(&parts[k], l)
		}
		var test string
		if index != nil {
			x := index.lane(l)
			if v.Stride != 0 {
				place += fmt.Sprintf(" + %d * i32(%s)", v.Stride, x)
			}
			test = fmt.Sprintf("u32(%s) < %du", x, v.Len)
		}
		condition := all(conditions, l)
		if condition == "" && test == "" {
			sc.fetch(b, st, place, names, vector, "let ")
			continue
		}
		for _, n := range names {
			sc.line("var %s = %s;", n, s.opaque(in.Type, v.Fill))
		}
		inner := sc
		if condition != "" {
			inner = inner.block()
		}
		if test != "" {
			found := inner.block()
			found.fetch(b, st, place, names, vector, "")
			found.end("if (" + test + ")")
			bad := inner.block()
			bad.note(i, l)
			bad.end("else")
		} else {
			inner.fetch(b, st, place, names, vector, "")
		}
		if condition != "" {
			inner.end("if (" + condition + ")")
		}
	}
	return result
}

// fetch reads the element at a place into a name, or four into four.
func (sc *scope) fetch(b *binding, st *storage, place string, names []string, vector bool, let string) {
	switch {
	case !vector && st.unpack == nil:
		sc.line("%s%s = %s[%s];", let, names[0], b.name, place)
		return
	case !vector:
		n := uint(st.perWord())
		at := "p_" + names[0]
		sc.line("let %s = u32(%s);", at, place)
		word := fmt.Sprintf("%s[%s >> %du]", b.name, at, map[uint]int{2: 1, 4: 2}[n])
		if b.atomic {
			word = "atomicLoad(&" + word + ")"
		}
		sc.line("%s%s = %s;", let, names[0], st.unpack(word, fmt.Sprintf("((%s & %du) * %du)", at, n-1, 8*st.size)))
		return
	}
	q := "q_" + names[0]
	sc.line("let %s = %s[u32(%s) >> 2u];", q, b.name, place)
	for l, n := range names {
		x := fmt.Sprintf("%s.%c", q, "xyzw"[l])
		switch st.size {
		case 1:
			x = st.unpack(q, fmt.Sprintf("%du", 8*l))
		case 2:
			x = st.unpack(fmt.Sprintf("%s.%c", q, "xy"[l/2]), fmt.Sprintf("%du", 16*(l%2)))
		}
		sc.line("%s%s = %s;", let, n, x)
	}
}

// store writes a Store's value, in every lane that is valid.
func (sc *scope) store(i int) {
	s := sc.s
	in := &s.k.Body[i]
	x := sc.value(in.Src[0])
	pos := sc.linear(in.View.Off, in.View.Coef)
	sc.put(in.Arg, x, pos, max(pos.lanes(), len(x)), sc.vectors(in.View, nil))
}

// condition is what makes a lane valid, "" if nothing does.
func (sc *scope) condition(l int) string {
	var list []string
	for s := sc; s != nil; s = s.parent {
		if len(s.valid) > 0 {
			if c := value(s.valid).lane(l); c != "" {
				list = append(list, c)
			}
		}
	}
	return strings.Join(list, " && ")
}

// put stores x at positions of an Out argument.
func (sc *scope) put(arg int, x value, pos sum, lanes int, vector bool) {
	s := sc.s
	vector = vector && lanes%4 == 0 && !s.one[arg]
	for l := 0; vector && l < lanes; l++ {
		vector = sc.condition(l) == sc.condition(l&^3)
	}
	b := s.argument(arg, vector)
	vector = vector && !s.one[arg]
	b.Write = true
	st := &storages[s.k.Args[arg].DType]
	group := 1
	if vector {
		group = 4
	}
	for l := 0; l < lanes; l += group {
		inner, condition := sc, sc.condition(l)
		if condition != "" {
			inner = sc.block()
		}
		names := make([]string, group)
		for k := range names {
			names[k] = x.lane(l + k)
		}
		inner.write(b, st, at(&pos, l), names)
		if condition != "" {
			inner.end("if (" + condition + ")")
		}
	}
}

// write writes one register to a place, or four from there on.
func (sc *scope) write(b *binding, st *storage, place string, x []string) {
	if st.pack != nil {
		for _, h := range []string{"f16_bits", "bf16_bits"} {
			if strings.HasPrefix(st.pack(""), h) {
				sc.s.need(h)
			}
		}
		packed := make([]string, len(x))
		for l := range x {
			packed[l] = st.pack(x[l])
		}
		x = packed
	}
	word := func(x ...string) string {
		for l := range x {
			if l > 0 {
				x[l] = fmt.Sprintf("(%s << %du)", x[l], 8*st.size*l)
			}
		}
		return strings.Join(x, " | ")
	}
	switch {
	case len(x) == 1 && st.pack == nil:
		sc.line("%s[%s] = %s;", b.name, place, x[0])
	case len(x) == 1:
		b.atomic = true
		n := st.perWord()
		in := sc.block() // for the names
		in.line("let at = u32(%s);", place)
		in.line("let bit = (at & %du) * %du;", n-1, 8*st.size)
		in.line("let to = &%s[at >> %du];", b.name, map[int]int{2: 1, 4: 2}[n])
		in.line("atomicAnd(to, ~(%du << bit));", 1<<(8*st.size)-1)
		in.line("atomicOr(to, (%s) << bit);", x[0])
		in.end("")
	case st.size == 1:
		sc.line("%s[u32(%s) >> 2u] = %s;", b.name, place, word(x...))
	case st.size == 2:
		sc.line("%s[u32(%s) >> 2u] = vec2<u32>(%s, %s);", b.name, place, word(x[:2]...), word(x[2:]...))
	default:
		sc.line("%s[u32(%s) >> 2u] = vec4<%s>(%s);", b.name, place, st.register, strings.Join(x, ", "))
	}
}
