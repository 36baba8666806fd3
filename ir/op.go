package ir

import "math"

// Op is an operation: of the graph of tensors, of a kernel, or of both.
type Op uint8

// The operations. A node's or instruction's attributes are named in its row.
const (
	// Sources.
	Const  Op = iota + 1 // every element is Num: part of the program's structure
	Scalar               // every element is Num: an argument, which no pass reads
	Iota                 // the position along axis Ints[0]
	Buffer               // stored elements

	// Aliases.
	Argument     // of a call of a transformed function
	StopGradient // no derivative flows through it
	ToDevice     // committed to the node's device
	CallResult   // of a call that has a derivative rule of its own
	CoOutput     // stored together with the other results of its call

	// Elementwise.
	Neg
	Exp
	Expm1
	Log
	Log1p
	Log2
	Sin
	Cos
	Atan
	Sqrt
	Tanh
	Erf
	Erfc
	Floor
	Not
	Cast
	Bitcast
	Add
	Sub
	Mul // Kind Where: the first operand is a weight, and where that is 0 so is the result
	Div
	Rem
	Pow
	Atan2 // (y, x)
	Max
	Min
	Eq
	Lt
	And
	Or
	Xor
	Shl
	Shr
	Where
	Threefry

	// Reductions over axes Ints (ascending), kept with length 1.
	Sum
	ReduceMax
	Prod
	ArgMax // one axis

	// Movement.
	Reshape
	Permute  // axis i of the result is axis Ints[i] of the operand
	Expand   // axes of length 1 are repeated
	Pad      // Ints: before, after, interior for each axis; Num: the fill
	Crop     // Ints: start, step for each axis; the result's shape says how many
	Flip     // Ints: the axes, ascending
	Window   // Ints: i, k, s, d: y[..i..k..] = x[..i·s+k·d..k..]
	Unwindow // Ints: i, k, s, d: the transpose of Window: x[..h..k..] = y[..(h-k·d)/s..k..] where whole and in range, else 0
	Cat      // Ints: axis
	Copy     // the operand's elements, stored once more: made by the compiler

	// Indexed. Ints: axis.
	Gather  // (x, idx): out[..i..] = x[..idx[..i..]..]
	Scatter // (base, idx, upd): base with upd combined by Kind (Add, Max, Min, Mul; Copy: replaced by upd) at idx, in order; Ints: axis, and 1 if the indices are known to be in range

	// Ordered. Ints: axis.
	Scan // each element combined by Kind (Add, Mul, Max, Min) with all before it along the axis
	Sort // the positions of elements in ascending order, of equal ones in their own; the result's shape says how many of the first

	Recur    // (x...): all results of a recurrence, which runs between plans
	Pick     // a result of a Recur; Ints: its number
	HostCall // (x...): the result of a Go function of whole tensors, or of a user's kernel, before the plan that reads it

	// Ops of kernels, which graphs do not have.
	Load     // an element of argument Arg at View; with an operand, one coordinate is that value
	Index    // the position along axis Axis
	InBounds // whether all guards of View hold
	Store    // its operand to argument Arg at View; a float may have a Bool as the second: where that is false nothing needs the element
	numOps
)

// Ops is the number of operations plus one: tables indexed by Op have this
// length.
const Ops = int(numOps)

// A Class is a family of operations that the compiler treats alike.
type Class uint8

// The classes.
const (
	Source Class = iota + 1
	Alias        // the operand under another name, which the compiler looks through
	Elementwise
	Reduction
	Movement
	Indexed
	Ordered  // along an axis, element by element
	Repeated // by plans of their own, between others
	Hosted   // computed outside of plans, by a Go function or a user's kernel
	KernelOnly
)

// A ResultType says how the type of an operation's result follows from its
// operands.
type ResultType uint8

// The rules of result types.
const (
	Same     ResultType = iota + 1 // the last operand's type
	ToBool                         // Bool
	ToInt32                        // Int32
	Attr                           // the node says
	SumType                        // SumType of the operand's type
	BaseType                       // the first operand's type
)

// Diff says how an operation is differentiated.
type Diff uint8

// The ways of differentiating.
const (
	Partials Diff = iota + 1 // by its partial derivatives
	Linear                   // by its transpose
	ByMode                   // by a function for each mode
	ByCall                   // by the rule of the call
	Zero                     // its derivative is 0 everywhere or the result is not a real number; see Info.Why
)

// An Info describes an operation.
type Info struct {
	Name        string
	Class       Class
	Arity       int        // number of operands; -1 any number from 1
	Types       TypeSet    // of its operands; Where's condition and indices apart
	Result      ResultType // the type of its result
	Cost        int        // of an element, in additions
	Commutative bool
	Identity    Neutral // of reductions and of the ways in which Scatter combines
	Diff        Diff
	Why         string // for Diff == Zero

	// How exact every device is, beyond rounding the result.
	Ulps       float64 // units in the last place of the result
	UlpsAtOne  float64 // on top: units at 1, or at the operand where that is greater
	AnyZero    bool    // the sign of a zero result is the device's choice
	SignedZero uint    // the operands whose zeros' signs change the result: bit k for operand k
}

// A Neutral is the element that leaves every other as it is under an op.
type Neutral uint8

// The neutral elements. Ops that do not combine have none.
const (
	NeutralZero Neutral = iota + 1
	NeutralOne
	NeutralLowest
	NeutralHighest
)

// Table has a row for every operation.
var Table = [Ops]Info{
	Const:  {Name: "Const", Class: Source, Types: anyType, Result: Attr, Diff: Zero, Why: "constant"},
	Scalar: {Name: "Scalar", Class: Source, Types: anyType, Result: Attr, Diff: Zero, Why: "constant"},
	Iota:   {Name: "Iota", Class: Source, Types: 1 << Int32, Result: Attr, Cost: 1, Diff: Zero, Why: "constant"},
	Buffer: {Name: "Buffer", Class: Source, Types: anyType, Result: Attr, Diff: Zero, Why: "constant"},

	Argument:     {Name: "Argument", Class: Alias, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	StopGradient: {Name: "StopGradient", Class: Alias, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	ToDevice:     {Name: "ToDevice", Class: Alias, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	CallResult:   {Name: "CallResult", Class: Alias, Arity: 1, Types: anyType, Result: Same, Diff: ByCall},
	CoOutput:     {Name: "CoOutput", Class: Alias, Arity: 1, Types: anyType, Result: Same, Diff: Linear},

	Neg:      {Name: "Neg", Class: Elementwise, Arity: 1, Types: numbers, Result: Same, Cost: 1, Diff: Linear},
	Exp:      {Name: "Exp", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 16, Diff: Partials, Ulps: 16},
	Expm1:    {Name: "Expm1", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 24, Diff: Partials, Ulps: 16},
	Log:      {Name: "Log", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 16, Diff: Partials, Ulps: 16, UlpsAtOne: 2},
	Log1p:    {Name: "Log1p", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 24, Diff: Partials, Ulps: 16},
	Log2:     {Name: "Log2", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 16, Diff: Partials, Ulps: 16, UlpsAtOne: 2},
	Sin:      {Name: "Sin", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 20, Diff: Partials, Ulps: 16, UlpsAtOne: 2},
	Cos:      {Name: "Cos", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 20, Diff: Partials, Ulps: 16, UlpsAtOne: 2},
	Atan:     {Name: "Atan", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 20, Diff: Partials, Ulps: 16},
	Sqrt:     {Name: "Sqrt", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 4, Diff: Partials, Ulps: 4},
	Tanh:     {Name: "Tanh", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 20, Diff: Partials, Ulps: 16},
	Erf:      {Name: "Erf", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 24, Diff: Partials, Ulps: 16},
	Erfc:     {Name: "Erfc", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 24, Diff: Partials, Ulps: 16},
	Floor:    {Name: "Floor", Class: Elementwise, Arity: 1, Types: floats, Result: Same, Cost: 1, Diff: Zero, Why: "piecewise constant"},
	Not:      {Name: "Not", Class: Elementwise, Arity: 1, Types: bitwise, Result: Same, Cost: 1, Diff: Zero, Why: "integers and bools"},
	Cast:     {Name: "Cast", Class: Elementwise, Arity: 1, Types: anyType, Result: Attr, Cost: 1, Diff: Linear},
	Bitcast:  {Name: "Bitcast", Class: Elementwise, Arity: 1, Types: anyType, Result: Attr, Cost: 1, Diff: Zero, Why: "bits", SignedZero: 1 << 0},
	Add:      {Name: "Add", Class: Elementwise, Arity: 2, Types: numbers, Result: Same, Cost: 1, Commutative: true, Identity: NeutralZero, Diff: Linear},
	Sub:      {Name: "Sub", Class: Elementwise, Arity: 2, Types: numbers, Result: Same, Cost: 1, Diff: Linear},
	Mul:      {Name: "Mul", Class: Elementwise, Arity: 2, Types: numbers, Result: Same, Cost: 1, Commutative: true, Identity: NeutralOne, Diff: Partials},
	Div:      {Name: "Div", Class: Elementwise, Arity: 2, Types: numbers, Result: Same, Cost: 4, Diff: Partials, Ulps: 4, SignedZero: 1 << 1},
	Rem:      {Name: "Rem", Class: Elementwise, Arity: 2, Types: numbers, Result: Same, Cost: 6, Diff: Partials, Ulps: 4, AnyZero: true},
	Pow:      {Name: "Pow", Class: Elementwise, Arity: 2, Types: numbers, Result: Same, Cost: 32, Diff: Partials, Ulps: 32, AnyZero: true, SignedZero: 1 << 0},
	Atan2:    {Name: "Atan2", Class: Elementwise, Arity: 2, Types: floats, Result: Same, Cost: 28, Diff: Partials, Ulps: 16, SignedZero: 1<<0 | 1<<1},
	Max:      {Name: "Max", Class: Elementwise, Arity: 2, Types: anyType, Result: Same, Cost: 1, Commutative: true, Identity: NeutralLowest, Diff: Partials, AnyZero: true},
	Min:      {Name: "Min", Class: Elementwise, Arity: 2, Types: anyType, Result: Same, Cost: 1, Commutative: true, Identity: NeutralHighest, Diff: Partials, AnyZero: true},
	Eq:       {Name: "Eq", Class: Elementwise, Arity: 2, Types: anyType, Result: ToBool, Cost: 1, Commutative: true, Diff: Zero, Why: "bool"},
	Lt:       {Name: "Lt", Class: Elementwise, Arity: 2, Types: anyType, Result: ToBool, Cost: 1, Diff: Zero, Why: "bool"},
	And:      {Name: "And", Class: Elementwise, Arity: 2, Types: bitwise, Result: Same, Cost: 1, Commutative: true, Diff: Zero, Why: "integers and bools"},
	Or:       {Name: "Or", Class: Elementwise, Arity: 2, Types: bitwise, Result: Same, Cost: 1, Commutative: true, Diff: Zero, Why: "integers and bools"},
	Xor:      {Name: "Xor", Class: Elementwise, Arity: 2, Types: bitwise, Result: Same, Cost: 1, Commutative: true, Diff: Zero, Why: "integers and bools"},
	Shl:      {Name: "Shl", Class: Elementwise, Arity: 2, Types: integers, Result: Same, Cost: 1, Diff: Zero, Why: "integers"},
	Shr:      {Name: "Shr", Class: Elementwise, Arity: 2, Types: integers, Result: Same, Cost: 1, Diff: Zero, Why: "integers"},
	Where:    {Name: "Where", Class: Elementwise, Arity: 3, Types: anyType, Result: Same, Cost: 1, Diff: Linear},
	Threefry: {Name: "Threefry", Class: Elementwise, Arity: 4, Types: word, Result: Same, Cost: 120, Diff: Zero, Why: "random bits"},

	Sum:       {Name: "Sum", Class: Reduction, Arity: 1, Types: anyType, Result: SumType, Cost: 1, Identity: NeutralZero, Diff: Linear},
	ReduceMax: {Name: "ReduceMax", Class: Reduction, Arity: 1, Types: anyType, Result: Same, Cost: 1, Identity: NeutralLowest, Diff: Partials},
	Prod:      {Name: "Prod", Class: Reduction, Arity: 1, Types: numbers, Result: Same, Cost: 1, Identity: NeutralOne, Diff: Partials},
	ArgMax:    {Name: "ArgMax", Class: Reduction, Arity: 1, Types: anyType, Result: ToInt32, Cost: 2, Diff: Zero, Why: "a position"},

	Reshape:  {Name: "Reshape", Class: Movement, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	Permute:  {Name: "Permute", Class: Movement, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	Expand:   {Name: "Expand", Class: Movement, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	Pad:      {Name: "Pad", Class: Movement, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	Crop:     {Name: "Crop", Class: Movement, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	Flip:     {Name: "Flip", Class: Movement, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	Window:   {Name: "Window", Class: Movement, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	Unwindow: {Name: "Unwindow", Class: Movement, Arity: 1, Types: anyType, Result: Same, Diff: Linear},
	Cat:      {Name: "Cat", Class: Movement, Arity: -1, Types: anyType, Result: Same, Diff: Linear},
	Copy:     {Name: "Copy", Class: Movement, Arity: 1, Types: anyType, Result: Same, Diff: Zero, Why: "made by the compiler"},

	Gather:  {Name: "Gather", Class: Indexed, Arity: 2, Types: anyType, Result: BaseType, Cost: 2, Diff: Linear},
	Scatter: {Name: "Scatter", Class: Indexed, Arity: 3, Types: anyType, Result: Same, Cost: 4, Diff: Partials},

	Scan: {Name: "Scan", Class: Ordered, Arity: 1, Types: numbers, Result: Same, Cost: 2, Diff: ByMode},
	Sort: {Name: "Sort", Class: Ordered, Arity: 1, Types: bitwise, Result: ToInt32, Cost: 64, Diff: Zero, Why: "positions"},

	Recur: {Name: "Recur", Class: Repeated, Arity: -1, Types: anyType, Result: ToBool, Diff: Zero, Why: "grad.Scan has the derivative"},
	Pick:  {Name: "Pick", Class: Repeated, Arity: 1, Types: anyType, Result: Attr, Diff: Zero, Why: "grad.Scan has the derivative"},

	HostCall: {Name: "HostCall", Class: Hosted, Arity: -1, Types: anyType, Result: Attr, Diff: Zero, Why: "the grad.Custom around it has the derivative"},

	Load:     {Name: "Load", Class: KernelOnly, Arity: -1, Types: anyType, Result: Attr, Cost: 1, Diff: Zero, Why: "not in graphs"},
	Index:    {Name: "Index", Class: KernelOnly, Types: 1 << Int32, Result: ToInt32, Diff: Zero, Why: "not in graphs"},
	InBounds: {Name: "InBounds", Class: KernelOnly, Types: boolean, Result: ToBool, Cost: 1, Diff: Zero, Why: "not in graphs"},
	Store:    {Name: "Store", Class: KernelOnly, Arity: -1, Types: anyType, Result: Same, Cost: 1, Diff: Zero, Why: "not in graphs"},
}

// String returns the operation's name in the table.
func (o Op) String() string { return Table[o].Name }

// Class returns the operation's class in the table.
func (o Op) Class() Class { return Table[o].Class }

// IndexTypes are the types that an index may have.
const IndexTypes = indices

// Identity returns the element of type d that leaves every other as it is
// under op o, which is the result of reducing nothing. Ops without one give 0.
func Identity(o Op, d DType) Number {
	switch Table[o].Identity {
	case NeutralOne:
		return Int(d, 1)
	case NeutralLowest:
		return Lowest(d)
	case NeutralHighest:
		if d.IsFloat() {
			return Float(d, math.Inf(1))
		}
		_, hi := Limits(d)
		return hi
	}
	return 0
}

// Lowest returns the least element of type d: -Inf if it is floating-point.
func Lowest(d DType) Number {
	if d.IsFloat() {
		return Number(math.Float64bits(math.Inf(-1)))
	}
	lo, _ := Limits(d)
	return lo
}

// ResultDType returns the type of o's result, from its operands' types and
// the type that the node names for rules that need one.
func (o Op) ResultDType(attr DType, operands ...DType) DType {
	switch Table[o].Result {
	case ToBool:
		return Bool
	case ToInt32:
		return Int32
	case Attr:
		return attr
	case BaseType:
		return operands[0]
	case SumType:
		return operands[0].SumType()
	}
	return operands[len(operands)-1]
}
