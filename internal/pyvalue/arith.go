package pyvalue

import (
	"math"
	"math/big"
	"math/bits"
	"strings"
)

func (s *Run) Overflow() {
	s.Fail("OverflowError", "an integer does not fit in 64 bits")
}

// Operate evaluates an arithmetic operator.
func (s *Run) Operate(op string, a, b any) any {
	s.Step(1)
	if x, ok := Text(a); ok && op == "%" {
		return s.Percent(a, x, b)
	}
	for _, v := range []any{a, b} {
		if u, ok := v.(*Undefined); ok {
			s.FailUndefined(u)
		}
	}
	x, ok := Integer(a)
	y, ok2 := Integer(b)
	switch {
	case ok && ok2:
		return s.OperateInt(op, x, y)
	case IsNumber(a) && IsNumber(b):
		f, _ := Number(a)
		g, _ := Number(b)
		return s.operateFloat(op, f, g)
	case op == "*" && ok:
		return s.Repeat(b, x)
	case op == "*" && ok2:
		return s.Repeat(a, y)
	case op == "+":
		return s.add(a, b)
	}
	s.unsupported(op, a, b)
	return nil
}

func (s *Run) unsupported(op string, a, b any) {
	s.Fail("TypeError", "unsupported operand types for %s: '%s' and '%s'", op, TypeName(a), TypeName(b))
}

// add joins sequences.
func (s *Run) add(a, b any) any {
	if x, ok := Text(a); ok {
		y, ok := Text(b)
		if !ok {
			s.Fail("TypeError", "can only concatenate str (not \"%s\") to str", TypeName(b))
		}
		s.Alloc(len(x) + len(y))
		_, safe := a.(Markup)
		if _, safe2 := b.(Markup); safe || safe2 {
			return s.Escape(a) + s.Escape(b)
		}
		return x + y
	}
	x, ok := a.(*List)
	y, ok2 := b.(*List)
	if ok && ok2 {
		return NewList(s.JoinItems(x.Items, y.Items))
	}
	t, ok := a.(*Tuple)
	u, ok2 := b.(*Tuple)
	if ok && ok2 {
		return &Tuple{Items: s.JoinItems(t.Items, u.Items)}
	}
	s.unsupported("+", a, b)
	return nil
}

func (s *Run) JoinItems(a, b []any) []any {
	s.AllocN(int64(len(a)+len(b)), 16)
	return append(append(make([]any, 0, len(a)+len(b)), a...), b...)
}

func (s *Run) Repeat(v any, n int64) any {
	n = max(n, 0)
	if x, ok := Text(v); ok {
		s.AllocN(n, len(x))
		text := ""
		if x != "" {
			text = strings.Repeat(x, int(n))
		}
		if _, safe := v.(Markup); safe {
			return Markup(text)
		}
		return text
	}
	times := func(items []any) []any {
		if len(items) == 0 {
			return nil
		}
		s.AllocN(n, 16*len(items))
		all := make([]any, 0, int(n)*len(items))
		for range n {
			all = append(all, items...)
		}
		return all
	}
	switch v := v.(type) {
	case *List:
		return NewList(times(v.Items))
	case *Tuple:
		return &Tuple{Items: times(v.Items)}
	}
	s.unsupported("*", v, n)
	return nil
}

func (s *Run) Zero() { s.Fail("ZeroDivisionError", "division by zero") }

func (s *Run) OperateInt(op string, a, b int64) any {
	switch op {
	case "+":
		c := a + b
		if (c > a) != (b > 0) {
			if b != 0 {
				s.Overflow()
			}
		}
		return c
	case "-":
		c := a - b
		if (c < a) != (b > 0) {
			if b != 0 {
				s.Overflow()
			}
		}
		return c
	case "*":
		return s.Multiply(a, b)
	case "**":
		if b < 0 {
			if a == 0 {
				s.Zero()
			}
			return s.pow(float64(a), float64(b))
		}
		return s.Power(a, b)
	}
	if b == 0 {
		s.Zero()
	}
	switch op {
	case "/":
		if a == 0 {
			return 0 / float64(b) // big.Rat has no -0
		}
		f, _ := new(big.Rat).SetFrac64(a, b).Float64() // rounded once: their floats may be rounded already
		return f
	case "//":
		if a == math.MinInt64 && b == -1 {
			s.Overflow()
		}
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		return q
	}
	if b == -1 {
		return int64(0)
	}
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

func (s *Run) Multiply(a, b int64) int64 {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	if high != 0 || low > 1<<63 || low == 1<<63 && !negative {
		s.Overflow()
	}
	if negative {
		return -int64(low)
	}
	return int64(low)
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

func (s *Run) Power(a, b int64) int64 {
	result := int64(1)
	if a == 0 || a == 1 || a == -1 { // no power of others with an exponent above 63 fits
		b = min(b, 2-b%2)
	}
	for range b {
		s.Step(1)
		result = s.Multiply(result, a)
	}
	return result
}

// pow rounds a power to the nearest float, as C does but math.Pow does not. Bits of the exponent's
// whole part multiply repeated squares, and bits of its fraction repeated square roots.
func (s *Run) pow(a, b float64) float64 {
	const bits = 256
	whole, fraction := math.Modf(math.Abs(b))
	if rough := math.Pow(a, b); a == 0 || math.IsInf(a, 0) || math.IsNaN(a) || math.IsNaN(rough) || !(whole <= 1<<62) {
		return rough
	}
	x, root, power := big.NewFloat(a).SetPrec(bits), big.NewFloat(a).SetPrec(bits), big.NewFloat(1).SetPrec(bits)
	for i := uint64(whole); i > 0; i >>= 1 {
		if i&1 == 1 {
			power.Mul(power, x)
		}
		x.Mul(x, x)
	}
	for range bits {
		if fraction == 0 {
			break
		}
		s.Step(5)
		root.Sqrt(root)
		if fraction *= 2; fraction >= 1 {
			power.Mul(power, root)
			fraction--
		}
	}
	if b < 0 {
		power.Quo(big.NewFloat(1).SetPrec(bits), power)
	}
	f, _ := power.Float64()
	return f
}

func (s *Run) operateFloat(op string, a, b float64) any {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "**":
		f := s.pow(a, b)
		switch {
		case a == 0 && b < 0:
			s.Zero()
		case a < 0 && b != math.Trunc(b) && !math.IsInf(a, 0):
			s.Fail("TypeError", "the power of a negative number is complex, which is not supported")
		case math.IsInf(f, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0):
			s.Fail("OverflowError", "the power is too large")
		}
		return f
	}
	if b == 0 {
		s.Zero()
	}
	if op == "/" {
		return a / b
	}
	r := math.Mod(a, b)
	q := (a - r) / b
	switch {
	case r != 0 && (b < 0) != (r < 0):
		r += b
		q--
	case r == 0:
		r = math.Copysign(0, b)
	}
	if op == "%" {
		return r
	}
	if q == 0 {
		return math.Copysign(0, a/b)
	}
	f := math.Floor(q)
	if q-f > 0.5 {
		f++
	}
	return f
}

// FloatToInt is Python's int of a float.
func (s *Run) FloatToInt(f float64) int64 {
	if math.IsNaN(f) {
		s.Fail("ValueError", "NaN is no integer")
	}
	if math.Abs(f) >= 1<<63 {
		s.Overflow()
	}
	return int64(f)
}
