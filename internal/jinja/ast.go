package jinja

import "github.com/tensorken/tensorken/internal/pyvalue"

// A node is a statement or an expression.
type node interface {
	each(visit func(node)) // calls visit with the nodes directly below, in Jinja's order
}

type expr interface {
	node
	eval(s *state) any
}

type stmt interface {
	node
	exec(s *state) jump
}

// A jump is how a statement ends.
type jump int

const (
	next jump = iota
	breakLoop
	continueLoop
)

// The ways in which a name occurs.
type use int

const (
	loads use = iota
	stores
	param
)

// Expressions.
type (
	constant struct{ value any }
	name     struct {
		name string
		use  use
		at   variable
		line int
	}
	attrTarget struct { // ns.attr, in an assignment
		of   *name
		attr string
	}
	sequence struct { // a list, or a tuple
		items []expr
		tuple bool
	}
	dictionary struct {
		keys, values []expr
		line         int
	}
	unary struct {
		op   string
		of   expr
		line int
	}
	binary struct {
		op          string
		left, right expr
		line        int
	}
	concat  struct{ parts []expr }
	compare struct {
		first expr
		ops   []string
		rest  []expr
		line  int
	}
	conditional struct {
		test, then, els expr // els may be nil
		line            int
	}
	getAttr struct {
		of   expr
		attr string
		line int
	}
	getItem struct {
		of, key expr
		line    int
	}
	slice struct {
		of, start, stop, step expr // all but of may be nil
		line                  int
	}
	call struct {
		of   expr
		with arguments
		line int
	}
	filter struct { // or a test
		of      expr // nil for the body of a block
		name    string
		with    arguments
		is, not bool
		builtin *pyvalue.Builtin
		line    int
	}
)

// arguments are the arguments of a call.
type arguments struct {
	args   []expr
	names  []string // of the last of args
	star   expr     // may be nil, as the next
	double expr
}

// Statements.
type (
	output struct {
		parts []expr
	}
	assign struct {
		target, value expr
		line          int
	}
	assignBlock struct {
		target expr
		filter expr // may be nil
		body   []stmt
		in     []load
		line   int
	}
	ifElse struct {
		test  expr
		body  []stmt
		elifs []*ifElse
		els   []stmt
		line  int
	}
	forLoop struct {
		target, over, test  expr // test may be nil
		body, els           []stmt
		recursive, extended bool
		in, elseIn          []load
		testIn              []load
		testTarget          expr      // the target, as variables of filter
		filter              *function // of the test
		fn                  *function // of the body of a recursive loop
		loop                variable  // the loop object
		line                int
	}
	macro struct {
		name     string // "" for the body of a call block
		params   []*name
		defaults []expr // of the last of params
		body     []stmt
		fn       *function
		in       []load
		self     *name // the variable of the macro
		caller   *name // the name caller, if the body uses it, or nil
		kwargs   *name
		varargs  *name
		line     int
	}
	callBlock struct {
		of   *call // nil for a generation block
		body *macro
	}
	filterBlock struct {
		filter expr
		body   []stmt
		in     []load
		line   int
	}
	with struct {
		targets, values []expr
		body            []stmt
		in              []load
		line            int
	}
	loopControl struct {
		jump jump
		line int
	}
)

func visitAll[N node](visit func(node), nodes []N) {
	for _, n := range nodes {
		visit(n)
	}
}

// visitEach visits the expressions that are not nil.
func visitEach(visit func(node), exprs ...expr) {
	for _, e := range exprs {
		if e != nil {
			visit(e)
		}
	}
}

func (a *arguments) each(visit func(node)) {
	visitAll(visit, a.args)
	visitEach(visit, a.star, a.double)
}

func (n *constant) each(func(node))          {}
func (n *name) each(func(node))              {}
func (n *attrTarget) each(visit func(node))  { visit(n.of) }
func (n *sequence) each(visit func(node))    { visitAll(visit, n.items) }
func (n *dictionary) each(visit func(node))  { visitAll(visit, n.keys); visitAll(visit, n.values) }
func (n *unary) each(visit func(node))       { visit(n.of) }
func (n *binary) each(visit func(node))      { visit(n.left); visit(n.right) }
func (n *concat) each(visit func(node))      { visitAll(visit, n.parts) }
func (n *compare) each(visit func(node))     { visit(n.first); visitAll(visit, n.rest) }
func (n *conditional) each(visit func(node)) { visitEach(visit, n.test, n.then, n.els) }
func (n *getAttr) each(visit func(node))     { visit(n.of) }
func (n *getItem) each(visit func(node))     { visit(n.of); visit(n.key) }
func (n *slice) each(visit func(node))       { visitEach(visit, n.of, n.start, n.stop, n.step) }
func (n *call) each(visit func(node))        { visit(n.of); n.with.each(visit) }
func (n *filter) each(visit func(node))      { visitEach(visit, n.of); n.with.each(visit) }
func (n *output) each(visit func(node))      { visitAll(visit, n.parts) }
func (n *assign) each(visit func(node))      { visit(n.target); visit(n.value) }
func (n *loopControl) each(visit func(node)) {}
func (n *filterBlock) each(visit func(node)) { visitAll(visit, n.body); visit(n.filter) }
func (n *assignBlock) each(visit func(node)) {
	visitEach(visit, n.target, n.filter)
	visitAll(visit, n.body)
}

func (n *ifElse) each(visit func(node)) {
	visit(n.test)
	visitAll(visit, n.body)
	visitAll(visit, n.elifs)
	visitAll(visit, n.els)
}

func (n *forLoop) each(visit func(node)) {
	visitEach(visit, n.target, n.over)
	visitAll(visit, n.body)
	visitAll(visit, n.els)
	visitEach(visit, n.test)
}

func (n *macro) each(visit func(node)) {
	visitAll(visit, n.params)
	visitAll(visit, n.defaults)
	visitAll(visit, n.body)
}

func (n *callBlock) each(visit func(node)) {
	if n.of != nil {
		visit(n.of)
	}
	visit(n.body)
}

func (n *with) each(visit func(node)) {
	visitAll(visit, n.targets)
	visitAll(visit, n.values)
	visitAll(visit, n.body)
}

// checkDepth fails for nodes nested so deep that passes over them, which recurse, could run out
// of stack.
func checkDepth(body []stmt) {
	type at struct {
		node  node
		depth int
	}
	var todo []at
	for _, n := range body {
		todo = append(todo, at{n, 1})
	}
	for len(todo) > 0 {
		top := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if top.depth > maxTree {
			pyvalue.Fail(lineOf(top.node), "LimitError", "the template nests deeper than %d nodes", maxTree)
		}
		top.node.each(func(n node) { todo = append(todo, at{n, top.depth + 1}) })
	}
}

// lineOf returns the line of the first node, below n too, that has one.
func lineOf(n node) int {
	line := 0
	switch n := n.(type) {
	case *name:
		line = n.line
	case *filter:
		line = n.line
	case *binary:
		line = n.line
	case *unary:
		line = n.line
	case *getAttr:
		line = n.line
	case *call:
		line = n.line
	}
	return max(1, line)
}
