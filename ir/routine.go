package ir

import (
	"errors"
	"fmt"
	"strings"
)

// A RoutineInfo describes a routine: work on whole buffers that no loop nest expresses. A
// kernel of template Routine ends in its instruction; the instructions before compute the
// operands at each point. Package interp, the CPU and the schedules of GPUs have tables of
// routines as well.
type RoutineInfo struct {
	// Verify checks the instruction and the kernel's promises beyond a valid body.
	Verify func(k *Kernel, in *Instr, src []DType) error
	// Whole lists the arguments that are read or written without a view: as many
	// elements as argument 0 has, starting at the offset.
	Whole func(k *Kernel) []int
	// Indexed says that operand 0 is an index, as of a Load (see View).
	Indexed bool
}

// Routines has a row for each op that is a routine.
var Routines = [Ops]*RoutineInfo{
	Scatter: {Verify: verifyScatter, Whole: scatterWhole, Indexed: true},
	Scan:    {Verify: verifyScan, Whole: firstWhole},
	Sort:    {Verify: verifySort, Whole: firstWhole},
	// A HostCall in a plan is a collective of ranks, which no device compiles. It has no axes, and reads
	// the first element of each operand in place of all.
	HostCall: {Verify: func(k *Kernel, in *Instr, _ []DType) error { return verifyArg(k, in, Out) }, Whole: firstWhole},
}

// Writes reports whether an instruction of a kernel writes to an argument.
func (o Op) Writes() bool { return o == Store || Routines[o] != nil }

// Routine is the op of a kernel of template Routine, or 0.
func (k *Kernel) Routine() Op {
	if k.Template != Routine || len(k.Body) == 0 {
		return 0
	}
	return k.Body[len(k.Body)-1].Op
}

// name is the kernel's template, or its routine.
func (k *Kernel) name() string {
	if op := k.Routine(); op != 0 {
		return k.Template.String() + " " + strings.ToLower(op.String())
	}
	return k.Template.String()
}

func verifyRoutine(k *Kernel) error {
	if len(k.Body) == 0 || Routines[k.Routine()] == nil {
		return errors.New("no routine")
	}
	for i := range k.Body[:len(k.Body)-1] {
		if in := &k.Body[i]; in.Op == Store || in.Op.Class() == Reduction || Routines[in.Op] != nil {
			return fmt.Errorf("instruction %d: %v", i, in.Op)
		}
	}
	return nil
}

// A Scatter has the operands index, update and, if the result starts from a constant, the constant.
// Otherwise the result starts as a copy of argument 1 or, if it is Kept, as it is. Argument 0 is the
// result. The updates are combined with it in row-major order of the points.

// ScatterStart returns the constant from which the result of the Scatter at a body's end starts. It
// reports false if there is no such constant.
func ScatterStart(body []Instr) (Number, bool) {
	in := &body[len(body)-1]
	if len(in.Src) < 3 {
		return 0, false
	}
	return body[in.Src[2]].Num, true
}

func scatterWhole(k *Kernel) []int {
	if _, constant := ScatterStart(k.Body); constant || k.Args[0].Kept {
		return []int{0}
	}
	return []int{0, 1}
}

func verifyScatter(k *Kernel, in *Instr, src []DType) error {
	copies := len(src) == 2 && (len(k.Args) == 0 || !k.Args[0].Kept)
	switch {
	case len(src) != 2 && len(src) != 3:
		return fmt.Errorf("%d operands", len(src))
	case in.Kind != Add && in.Kind != Max && in.Kind != Min && in.Kind != Mul && in.Kind != Copy || !Table[in.Kind].Types.Has(in.Type):
		return fmt.Errorf("combines %v by %d", in.Type, in.Kind)
	case src[1] != in.Type:
		return fmt.Errorf("an update of type %v", src[1])
	case in.Arg != 0 || len(k.Args) == 0 || k.Args[0].Kind != Out:
		return errors.New("argument 0 is not its result")
	case copies && (len(k.Args) < 2 || k.Args[1].Kind != In || k.Args[0].DType != k.Args[1].DType):
		return errors.New("argument 1 is not a base of the result's type")
	case len(src) == 3 && (k.Args[0].Kept || k.Body[in.Src[2]].Op != Const || src[2] != in.Type):
		return errors.New("starts from no constant of its type")
	}
	if err := verifyArg(k, in, Out); err != nil {
		return err
	}
	if err := verifyUnguarded(k, in.View); err != nil {
		return err
	}
	return verifyAt(k, in.View, src[0])
}
