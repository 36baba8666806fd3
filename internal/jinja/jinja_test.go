package jinja

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/internal/hostmem/memtest"
	"github.com/tensorken/tensorken/internal/pyvalue"
)

// Errors have the template's line and name the mistake.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ template, want string }{
		{"a\n{{ x.y }}", "template line 2: UndefinedError: 'x' is undefined"},
		{"{{ 1 }}\n\n{% if a.b.c %}{% endif %}", "template line 3: UndefinedError: 'dict object' has no attribute 'b'"},
		{"{{ f(\n1 ) }}", "template line 1: UndefinedError: 'f' is undefined"},
		{"{% macro m() %}\n{{ none + 1 }}{% endmacro %}\n{{ m() }}", "template line 2: TypeError: unsupported operand types for +: 'NoneType' and 'int'"},
		{"{% macro m() %}\n{% endmacro %}\n\n{{ m() + 1 }}", "template line 4: TypeError: can only concatenate str (not \"int\") to str"},
		{"\n{{ raise_exception('no') }}", "template line 2: TemplateError: no"},
		{"\n\n{{ [].append(1) }}", "template line 3: SecurityError: access to attribute 'append' of 'list' object is unsafe"},
		{"{% if a %}\n", `template line 1: TemplateSyntaxError: the template ends where "elif" or "else" or "endif" of "if" must come`},
		{"\n{% endfor %}", `template line 2: TemplateSyntaxError: unknown tag "endfor"`},
		{"\n{% include 'x' %}", `template line 2: TemplateSyntaxError: the tag "include" is not supported`},
		{"\n{{ 1 | urlize }}", "template line 2: TemplateRuntimeError: the filter urlize is not supported"},
		{"\n{{ 1 | nope }}", `template line 2: TemplateAssertionError: there is no filter named "nope"`},
		{"\n{{ 1 is nope }}", `template line 2: TemplateAssertionError: there is no test named "nope"`},
		{"{{ 9223372036854775807 + 1 }}", "template line 1: OverflowError: an integer does not fit in 64 bits"},
		{"{{ strftime_now('%Q') }}", "template line 1: ValueError: strftime_now knows no directive %Q"},
		{"{{ '' | tojson(width=1) }}", `template line 1: TypeError: tojson has no parameter "width"`},
	} {
		_, err := render(c.template, `{"a": {}}`)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: error %v, want %s", c.template, err, c.want)
		}
	}
}

// Templates that would take all memory, stack or time end in an error, under bounds so small that
// the test is fast.
func TestLimits(t *testing.T) {
	nest := "{% set ns = namespace(v=('x',)) %}{% for i in range(2000) %}{% set ns.v = (ns.v,) %}{% endfor %}"
	double := "{% set ns = namespace(v=['x']) %}{% for i in range(100) %}{% set ns.v = [ns.v, ns.v] %}{% endfor %}"
	for _, c := range []struct{ template, kind string }{
		{"{{ 'a' * 10**9 }}", "LimitError"},
		{"{{ [1] * 10**9 * 10**9 }}", "LimitError"},
		{"{{ range(10**9) }}", "OverflowError"},
		{"{{ '%1000000000d' % 1 }}", "LimitError"},
		{"{{ '%.1000000000d' % 1 }}", "LimitError"},
		{"{{ '{:1000000000}'.format(1) }}", "LimitError"},
		{"{{ '{:01000000000,}'.format(1) }}", "LimitError"},
		{"{{ 'a' | indent(width=10**9) }}", "LimitError"},
		{"{{ 'a' | center(10**9) }}", "LimitError"},
		{"{{ [[]] | tojson(indent=10**9) | length }}", "LimitError"},
		{"{{ [1] | batch(10**9, 0) | list }}", "LimitError"},
		{"{{ [1] | slice(10**9) | list }}", "LimitError"},
		{"{{ ('x' * 100000).replace('', 'y' * 100000) }}", "LimitError"},
		{"{{ (['x'] * 100000) | join('y' * 100000) }}", "LimitError"},
		{"{% set ns = namespace(v='x') %}{% for i in range(100) %}{% set ns.v = ns.v + ns.v %}{% endfor %}", "LimitError"},
		{"{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", "LimitError"},
		{"{% for a in range(100000) %}{{ 'x' * 1000 }}{% endfor %}", "LimitError"},
		{"{% set x = 'x' * 1000000 %}{% for a in range(100000) %}{{ 'y' in x }}{% endfor %}", "LimitError"},
		{"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"},
		{"{% macro f() %}{{ caller() if caller }}{% call f() %}{% endcall %}{% endmacro %}{{ f() }}", "RecursionError"},
		{"{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "RecursionError"},
		{nest + "{{ ns.v }}", "RecursionError"},
		{nest + "{{ ns.v | tojson }}", "RecursionError"},
		{nest + "{{ {ns.v: 1} }}", "RecursionError"},
		{nest + "{% set old = ns.v %}" + nest + "{{ ns.v == old }}", "RecursionError"},
		{double + "{{ ns.v }}", "LimitError"},
		{double + "{{ ns.v | tojson }}", "LimitError"},
		{double + "{% set old = ns.v %}" + double + "{{ ns.v == old }}", "LimitError"},
		{"{{ " + strings.Repeat("(", 1000) + "1", "LimitError"},
		{"{{ " + strings.Repeat("not ", 1000) + "1 }}", "LimitError"},
		{"{{ " + strings.Repeat("-", 1000) + "1 }}", "LimitError"},
		{"{{ 1" + strings.Repeat(" + 1", 1000) + " }}", "LimitError"},
		{"{{ a" + strings.Repeat(".a", 1000) + " }}", "LimitError"},
		{strings.Repeat("{% if 1 %}", 1000), "LimitError"},
		{strings.Repeat(" ", maxSource+1), "LimitError"},
	} {
		tpl, err := Parse(c.template)
		if err == nil {
			_, err = tpl.Render(nil, &Options{Steps: 300_000, Memory: 4 << 20, Output: 1 << 20})
		}
		var e *pyvalue.Error
		if !errors.As(err, &e) || e.Kind != c.kind {
			t.Errorf("%.80q: error %v, want one of kind %s", c.template, err, c.kind)
		}
	}
}

// A namespace that holds itself prints.
func TestCycle(t *testing.T) {
	got, err := render("{% set ns = namespace() %}{% set ns.v = [ns] %}{{ ns }}", "{}")
	if want := "<Namespace {'v': [<Namespace {...}>]}>"; got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// A value of Go becomes the value of its JSON.
func TestFrom(t *testing.T) {
	type message struct {
		Role    string   `json:"role"`
		Content any      `json:"content"`
		Calls   []string `json:"tool_calls,omitempty"`
	}
	vars := &pyvalue.Dict{}
	v, err := pyvalue.From([]message{{"user", "<a>", nil}, {"tool", 1.5, []string{"f"}}})
	if err != nil {
		t.Fatal(err)
	}
	vars.Set("messages", v)
	tpl, err := Parse("{{ messages }}")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tpl.Render(vars, nil)
	want := "[{'role': 'user', 'content': '<a>'}, {'role': 'tool', 'content': 1.5, 'tool_calls': ['f']}]"
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// One template renders in several goroutines at once.
func TestConcurrent(t *testing.T) {
	tpl, err := Parse("{% set ns = namespace(n=0) %}{% for i in range(100) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := tpl.Render(nil, nil); got != "4950" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	wg.Wait()
}

// FuzzRender looks for panics, and for renderings without end.
func FuzzRender(f *testing.F) {
	for _, file := range []string{"cases", "features"} {
		for _, c := range readCases(f, file) {
			f.Add(c.Template, string(c.Context))
		}
	}
	f.Fuzz(func(t *testing.T, template, context string) {
		var tpl *Template
		var err error
		memtest.Bound(t, len(template), func() { tpl, err = Parse(template) })
		if err != nil {
			return
		}
		v, _ := pyvalue.Decode([]byte(context))
		vars, _ := v.(*pyvalue.Dict)
		if _, err := tpl.Render(vars, &Options{Now: now, Steps: 100_000, Memory: 4 << 20}); err != nil {
			var e *pyvalue.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Line > 1+strings.Count(template, "\n")+strings.Count(template, "\r") {
				t.Errorf("%q: error %v", template, err)
			}
		}
	})
}

// The template for tools of Qwen's kind, with 100 messages.
func BenchmarkRender(b *testing.B) {
	var template string
	for _, c := range readCases(b, "cases") {
		if c.Name == "qwen_tools" {
			template = c.Template
		}
	}
	tpl, err := Parse(template)
	if err != nil {
		b.Fatal(err)
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var messages []message
	for i := range 100 {
		messages = append(messages, message{[]string{"user", "assistant"}[i%2], strings.Repeat("A sentence of a chat. ", 10)})
	}
	v, err := pyvalue.From(messages)
	if err != nil {
		b.Fatal(err)
	}
	vars := &pyvalue.Dict{}
	vars.Set("messages", v)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tpl.Render(vars, nil); err != nil {
			b.Fatal(err)
		}
	}
}
