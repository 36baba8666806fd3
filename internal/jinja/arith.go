package jinja

import (
	"math"
	"math/big"
	"math/bits"
	"strings"
)

func (s *run) overflow() {
	s.fail("OverflowError", "an integer does not fit in 64 bits")
}

// operate evaluates an arithmetic operator.
func (s *run) operate(op string, a, b any) any {
	s.step(1)
	if x, ok := text(a); ok && op == "%" {
		return s.percent(a, x, b)
	}
	for _, v := range []any{a, b} {
		if u, ok := v.(*undefined); ok {
			s.failUndefined(u)
		}
	}
	x, ok := integer(a)
	y, ok2 := integer(b)
	switch {
	case ok && ok2:
		return s.operateInt(op, x, y)
	case isNumber(a) && isNumber(b):
		f, _ := number(a)
		g, _ := number(b)
		return s.operateFloat(op, f, g)
	case op == "*" && ok:
		return s.repeat(b, x)
	case op == "*" && ok2:
		return s.repeat(a, y)
	case op == "+":
		return s.add(a, b)
	}
	s.unsupported(op, a, b)
	return nil
}

func (s *run) unsupported(op string, a, b any) {
	s.fail("TypeError", "unsupported operand types for %s: '%s' and '%s'", op, typeName(a), typeName(b))
}

// add joins sequences.
func (s *run) add(a, b any) any {
	if x, ok := text(a); ok {
		y, ok := text(b)
		if !ok {
			s.fail("TypeError", "can only concatenate str (not \"%s\") to str", typeName(b))
		}
		s.alloc(len(x) + len(y))
		_, safe := a.(markup)
		if _, safe2 := b.(markup); safe || safe2 {
			return s.escape(a) + s.escape(b)
		}
		return x + y
	}
	x, ok := a.(*list)
	y, ok2 := b.(*list)
	if ok && ok2 {
		return newList(s.joinItems(x.items, y.items))
	}
	t, ok := a.(*tuple)
	u, ok2 := b.(*tuple)
	if ok && ok2 {
		return &tuple{items: s.joinItems(t.items, u.items)}
	}
	s.unsupported("+", a, b)
	return nil
}

func (s *run) joinItems(a, b []any) []any {
	s.allocN(int64(len(a)+len(b)), 16)
	return append(append(make([]any, 0, len(a)+len(b)), a...), b...)
}

func (s *run) repeat(v any, n int64) any {
	n = max(n, 0)
	if x, ok := text(v); ok {
		s.allocN(n, len(x))
		text := ""
		if x != "" {
			text = strings.Repeat(x, int(n))
		}
		if _, safe := v.(markup); safe {
			return markup(text)
		}
		return text
	}
	times := func(items []any) []any {
		if len(items) == 0 {
			return nil
		}
		s.allocN(n, 16*len(items))
		all := make([]any, 0, int(n)*len(items))
		for range n {
			all = append(all, items...)
		}
		return all
	}
	switch v := v.(type) {
	case *list:
		return newList(times(v.items))
	case *tuple:
		return &tuple{items: times(v.items)}
	}
	s.unsupported("*", v, n)
	return nil
}

func (s *run) zero() { s.fail("ZeroDivisionError", "division by zero") }

func (s *run) operateInt(op string, a, b int64) any {
	switch op {
	case "+":
		c := a + b
		if (c > a) != (b > 0) {
			if b != 0 {
				s.overflow()
			}
		}
		return c
	case "-":
		c := a - b
		if (c < a) != (b > 0) {
			if b != 0 {
				s.overflow()
			}
		}
		return c
	case "*":
		return s.multiply(a, b)
	case "**":
		if b < 0 {
			if a == 0 {
				s.zero()
			}
			return pow(float64(a), float64(b))
		}
		return s.power(a, b)
	}
	if b == 0 {
		s.zero()
	}
	switch op {
	case "/":
		return float64(a) / float64(b)
	case "//":
		if a == math.MinInt64 && b == -1 {
			s.overflow()
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

func (s *run) multiply(a, b int64) int64 {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	if high != 0 || low > 1<<63 || low == 1<<63 && !negative {
		s.overflow()
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

func (s *run) power(a, b int64) int64 {
	result := int64(1)
	if a == 0 || a == 1 || a == -1 { // no power of others with an exponent above 63 fits
		b = min(b, 2-b%2)
	}
	for range b {
		s.step(1)
		result = s.multiply(result, a)
	}
	return result
}

// pow rounds powers with small integer exponents to the nearest float, as C does.
func pow(a, b float64) float64 {
	n := math.Abs(b)
	if n != math.Trunc(n) || n > 1024 || a == 0 || math.IsInf(a, 0) || math.IsNaN(a) {
		return math.Pow(a, b)
	}
	x, power := big.NewFloat(a).SetPrec(2000), big.NewFloat(1).SetPrec(2000)
	for i := int(n); i > 0; i >>= 1 {
		if i&1 == 1 {
			power.Mul(power, x)
		}
		x.Mul(x, x)
	}
	if b < 0 {
		power.Quo(big.NewFloat(1).SetPrec(2000), power)
	}
	f, _ := power.Float64()
	return f
}

func (s *run) operateFloat(op string, a, b float64) any {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "**":
		f := pow(a, b)
		switch {
		case a == 0 && b < 0:
			s.zero()
		case a < 0 && b != math.Trunc(b) && !math.IsInf(a, 0):
			s.fail("TypeError", "the power of a negative number is complex, which is not supported")
		case math.IsInf(f, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0):
			s.fail("OverflowError", "the power is too large")
		}
		return f
	}
	if b == 0 {
		s.zero()
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

// floatToInt is Python's int of a float.
func (s *run) floatToInt(f float64) int64 {
	if math.IsNaN(f) {
		s.fail("ValueError", "NaN is no integer")
	}
	if math.Abs(f) >= 1<<63 {
		s.overflow()
	}
	return int64(f)
}
