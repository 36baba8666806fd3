// Package ptxtest checks PTX text as package ptx prints it: instructions and their types of
// operands, registers, labels and the header.
package ptxtest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A rule says which operands an instruction takes, one letter each:
//
//	p predicate  h register of 16 bits  w of 32 bits  d of 64 bits
//	i word or integer  f word or float  x word or either  s special register or name
//	j, g, y: as i, f, x with a register of 64 bits instead of a word
//	a address  m w, h or d, or a list of them  l label
//	* an i that may be absent
//
// and the least version and target that have it.
type rule struct {
	pattern         *regexp.Regexp
	operands        string
	version, target int
}

func rules(version, target int, rows ...[2]string) []rule {
	var list []rule
	for _, r := range rows {
		list = append(list, rule{regexp.MustCompile("^(" + r[0] + ")$"), r[1], version, target})
	}
	return list
}

const (
	ints  = `\.[su]32`
	longs = `\.[su]64`
	cmp   = `setp\.(eq|ne|lt|le|gt|ge)`
)

var table = slices.Concat(rules(78, 90, [2]string{`griddepcontrol\.(wait|launch_dependents)`, ""}), rules(60, 50,
	[2]string{`ld\.param\.u64`, "da"}, [2]string{`ld\.param\.u32`, "wa"}, [2]string{`cvta\.to\.global\.u64`, "dd"},
	[2]string{`(add|sub|mul\.lo|mul\.hi|div|rem|min|max)` + ints, "wii"}, [2]string{`mad\.lo` + ints, "wiii"}, [2]string{`mad\.wide` + ints, "diid"},
	[2]string{`(add|sub|mul|div)\.rn\.f32|(min|max)\.f32`, "wff"}, [2]string{`fma\.rn\.f32`, "wfff"},
	[2]string{`(neg|abs)\.s32|not\.b32|clz\.b32|mov\.u32`, "wi"}, [2]string{`(neg|abs)\.f32|sqrt\.rn\.f32|(ex2\.approx\.ftz|lg2\.approx|(rcp|rsqrt)\.approx\.ftz|(rcp|sqrt)\.approx)\.f32|cvt\.rmi\.f32\.f32`, "wf"},
	[2]string{`(and|or|xor)\.b32|(shl|shr)\.b32|shr` + ints, "wii"}, [2]string{`(and|or|xor)\.pred`, "ppp"}, [2]string{`(not|mov)\.pred`, "pp"},
	[2]string{cmp + ints, "pii"}, [2]string{`setp\.(eq|lt|le|gt|ge|neu|nan|num)\.f32`, "pff"}, [2]string{`selp\.b32`, "wxxp"}, [2]string{`mov\.b32`, "w?"},
	[2]string{`cvt\.rn\.f16\.f32`, "hf"}, [2]string{`cvt\.f32\.f16`, "wh"}, [2]string{`cvt\.u32\.u16`, "wh"}, [2]string{`cvt\.u16\.u32`, "hi"},
	[2]string{`cvt\.rn\.f32` + ints, "wi"}, [2]string{`cvt\.rzi` + ints + `\.f32`, "wf"},
	[2]string{`ld\.global(\.v4)?\.(b32|[usb]16|[us]8)`, "ma"}, [2]string{`st\.global(\.v4)?\.(b32|[usb]16|[us]8)`, "am"},
	[2]string{`ld\.shared(\.v[24])?\.b32`, "ma"}, [2]string{`st\.shared(\.v[24])?\.b32`, "am"},
	[2]string{`ld\.(global|shared)(\.v2)?\.b64`, "ma"}, [2]string{`st\.(global|shared)(\.v2)?\.b64`, "am"},
	[2]string{`(add|sub|mul\.lo|div|rem|min|max)` + longs + `|mul\.hi\.u64|(and|or|xor)\.b64`, "djj"}, [2]string{`mad\.lo` + longs, "djjd"},
	[2]string{`(add|sub|mul|div)\.rn\.f64|(min|max)\.f64`, "dgg"}, [2]string{`fma\.rn\.f64`, "dggg"},
	[2]string{`(neg|abs)\.s64|not\.b64`, "dj"}, [2]string{`(neg|abs)\.f64|rcp\.approx\.ftz\.f64|sqrt\.rn\.f64|cvt\.rmi\.f64\.f64`, "dg"},
	[2]string{`clz\.b64|cvt\.u32\.u64`, "wj"}, [2]string{`(shl|shr)\.b64|shr` + longs, "dji"},
	[2]string{cmp + longs, "pjj"}, [2]string{`setp\.(eq|lt|le|gt|ge|neu)\.f64`, "pgg"}, [2]string{`selp\.b64`, "dyyp"},
	[2]string{`cvt\.(u64\.u32|s64\.s32)`, "di"}, [2]string{`cvt\.f64\.f32`, "df"}, [2]string{`cvt\.rn\.f32\.f64`, "wg"},
	[2]string{`cvt\.rn\.f64` + ints, "di"}, [2]string{`cvt\.rn\.f64` + longs, "dj"}, [2]string{`cvt\.rn\.f32` + longs, "wj"},
	[2]string{`cvt\.rzi` + longs + `\.f32`, "df"}, [2]string{`cvt\.rzi` + longs + `\.f64`, "dg"}, [2]string{`cvt\.rzi` + ints + `\.f64`, "wg"},
	[2]string{`mov\.b64`, "m?"},
	[2]string{`(ld|st)\.volatile\.global\.u32`, "??"}, [2]string{`red\.global\.min\.s32`, "ai"},
	[2]string{`shfl\.sync\.(bfly|idx)\.b32`, "wxiii"}, [2]string{`bar\.sync`, "i*"}, [2]string{`bar\.arrive`, "ii"}, [2]string{`bra`, "l"}, [2]string{`ret`, ""},
), rules(60, 61,
	[2]string{`dp4a\.(s|u)32\.s32`, "wiii"},
), rules(70, 80,
	[2]string{`cp\.async\.commit_group`, ""}, [2]string{`cp\.async\.wait_group`, "i"}, [2]string{`cp\.async\.cg\.shared\.global`, "aai*"},
	[2]string{`(min|max)\.NaN\.f32`, "wff"}, [2]string{`cvt\.rna\.tf32\.f32`, "wf"}, [2]string{`cvt\.rn\.bf16\.f32`, "hf"}, [2]string{`cvt\.rn\.b?f16x2\.f32`, "wff"},
	[2]string{`ldmatrix\.sync\.aligned\.m8n8\.x4(\.trans)?\.shared\.b16`, "ma"},
	[2]string{`mma\.sync\.aligned\.(m16n8k8\.row\.col\.f32\.tf32\.tf32|m16n8k16\.row\.col\.f32\.(f16\.f16|bf16\.bf16))\.f32|mma\.sync\.aligned\.m16n8k32\.row\.col\.s32\.(s8\.s8|u8\.u8)\.s32`, "mmmm"},
), rules(78, 90,
	[2]string{`cvt\.rn\.tf32\.f32`, "wf"}, [2]string{`createpolicy\.fractional\.L2::evict_first\.b64`, "df"},
	[2]string{`ld\.global\.L2::cache_hint(\.v[24])?\.(b32|[usb]16|[us]8|u32|b64)`, "mad"},
), rules(80, 90,
	[2]string{`wgmma\.(fence|commit_group)\.sync\.aligned|fence\.proxy\.async\.shared::cta`, ""}, [2]string{`wgmma\.wait_group\.sync\.aligned`, "i"},
	[2]string{`wgmma\.mma_async\.sync\.aligned\.m64n\d+k16\.f32\.(f16\.f16|bf16\.bf16)`, "mmdpiii*"}, [2]string{`wgmma\.mma_async\.sync\.aligned\.m64n\d+k8\.f32\.tf32\.tf32`, "mmdpii"},
))

// A checker reads a module line by line.
type checker struct {
	version, target int
	registers       map[string]int // how many of each class are declared
	shared          map[string]bool
	labels, jumps   map[string]bool
}

// Check returns the first fault of a module.
func Check(text string) error {
	c := checker{registers: map[string]int{}, shared: map[string]bool{}, labels: map[string]bool{}, jumps: map[string]bool{}}
	body := false
	needs := [2]int{60, 50}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		var err error
		switch {
		case line == "" || line == "}":
		case line == "{":
			body = true
		case !body:
			c.header(line)
			c.declare(line)
		case strings.HasPrefix(line, "."):
			c.declare(line)
		case strings.HasSuffix(line, ":"):
			c.labels[strings.TrimSuffix(line, ":")] = true
		default:
			var r *rule
			if r, err = c.instruction(line); err == nil {
				needs = [2]int{max(needs[0], r.version), max(needs[1], r.target)}
			}
		}
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", i+1, line, err)
		}
	}
	for l := range c.jumps {
		if !c.labels[l] {
			return fmt.Errorf("there is no label %s", l)
		}
	}
	if got := [2]int{c.version, c.target}; got != needs {
		return fmt.Errorf("version and target %d, want %d", got, needs)
	}
	return nil
}

var digits = regexp.MustCompile(`[0-9.]+`)

func (c *checker) header(line string) {
	number := func() int {
		n, _ := strconv.Atoi(strings.ReplaceAll(digits.FindString(strings.TrimLeft(line, ".")), ".", ""))
		return n
	}
	switch {
	case strings.HasPrefix(line, ".version"):
		c.version = number()
	case strings.HasPrefix(line, ".target"):
		c.target = number()
	}
}

var (
	registers = regexp.MustCompile(`^\.reg \.(\w+) (%[a-z]+)<(\d+)>;$`)
	arrays    = regexp.MustCompile(`^\.extern \.shared \.align 1024 \.b8 (\w+)\[\];$`)
)

func (c *checker) declare(line string) {
	if m := registers.FindStringSubmatch(line); m != nil {
		c.registers[m[2]], _ = strconv.Atoi(m[3])
	}
	if m := arrays.FindStringSubmatch(line); m != nil {
		c.shared[m[1]] = true
	}
}

var (
	shape    = regexp.MustCompile(`^(@!?%[a-z]+\d+ )?([a-z][a-zA-Z0-9_.:]*)( (.*))?;$`)
	operand  = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|[^, ]+`)
	register = regexp.MustCompile(`^(%[a-z]+)(\d+)$`)
	integer  = regexp.MustCompile(`^-?\d+U?$`)
	float    = regexp.MustCompile(`^0f[0-9A-F]{8}$`)
	double   = regexp.MustCompile(`^0d[0-9A-F]{16}$`)
	special  = regexp.MustCompile(`^%(tid|ctaid|ntid)\.[xy]$`)
	address  = regexp.MustCompile(`^\[([^+\]]+)(\+\d+)?\]$`)
)

// instruction checks an instruction and returns its rule.
func (c *checker) instruction(line string) (*rule, error) {
	m := shape.FindStringSubmatch(line)
	if m == nil {
		return nil, fmt.Errorf("no instruction")
	}
	if m[1] != "" {
		if err := c.operand('p', strings.TrimLeft(strings.TrimSpace(m[1]), "@!")); err != nil {
			return nil, err
		}
	}
	list := operand.FindAllString(m[4], -1)
	for i := range table {
		r := &table[i]
		if !r.pattern.MatchString(m[2]) {
			continue
		}
		operands := r.operands
		if strings.HasSuffix(operands, "*") {
			operands = operands[:len(operands)-1]
			if len(list) == len(operands)+1 {
				operands += "i"
			}
		}
		if len(list) != len(operands) {
			return nil, fmt.Errorf("%d operands, want %d", len(list), len(operands))
		}
		for k, x := range list {
			if err := c.operand(operands[k], x); err != nil {
				return nil, err
			}
		}
		return r, nil
	}
	return nil, fmt.Errorf("unknown instruction %s", m[2])
}

// operand checks an operand of a kind.
func (c *checker) operand(kind byte, x string) error {
	bad := fmt.Errorf("operand %s, want one of kind %c", x, kind)
	classes := map[byte]string{'p': "%p", 'h': "%h", 'w': "%r", 'd': "%d", 'i': "%r", 'f': "%r", 'x': "%r", 'j': "%d", 'g': "%d", 'y': "%d"}
	switch {
	case kind == '?':
		switch x[0] {
		case '[':
			return c.operand('a', x)
		case '{':
			return c.operand('m', x)
		}
		if c.operand('x', x) != nil {
			return c.operand('y', x)
		}
		return nil
	case kind == 'l':
		c.jumps[x] = true
		return nil
	case kind == 'a':
		a := address.FindStringSubmatch(x)
		if a == nil {
			return bad
		}
		if a[1][0] == '%' && c.operand('d', a[1]) != nil {
			return c.operand('w', a[1])
		}
		return nil
	case kind == 'm':
		for _, y := range strings.Split(strings.Trim(x, "{}"), ", ") {
			if c.operand('w', y) != nil && c.operand('h', y) != nil && c.operand('d', y) != nil {
				return bad
			}
		}
		return nil
	case (kind == 'i' || kind == 'x') && (integer.MatchString(x) || special.MatchString(x) || c.shared[x]), (kind == 'f' || kind == 'x') && float.MatchString(x):
		return nil
	case (kind == 'j' || kind == 'y') && integer.MatchString(x), (kind == 'g' || kind == 'y') && double.MatchString(x):
		return nil
	}
	m := register.FindStringSubmatch(x)
	if m == nil || m[1] != classes[kind] {
		return bad
	}
	if n, _ := strconv.Atoi(m[2]); n >= c.registers[m[1]] {
		return fmt.Errorf("register %s is not declared", x)
	}
	return nil
}
