package ir

import (
	"errors"
	"fmt"
)

// Scan and Sort: operand 0 is an element of a row, which runs along the reduced axes
// in row-major order. Argument 0 is the result, dense.
//
// Scan stores at each point the combination of the row's elements up to it. Devices
// may combine them in another order than one after the other.
//
// Sort stores for each row the positions, in the row, of the elements in ascending
// order, and of equal ones in their own order: for place v, from 0 to below the
// view's Len, at the view's position for the row + v·Stride.

// firstWhole is for routines that write all of argument 0 and read nothing whole.
func firstWhole(*Kernel) []int { return []int{0} }

func verifyScan(k *Kernel, in *Instr, src []DType) error {
	switch {
	case len(src) != 1:
		return fmt.Errorf("%d operands", len(src))
	case in.Kind != Add && in.Kind != Max && in.Kind != Min && in.Kind != Mul || !Table[Scan].Types.Has(in.Type):
		return fmt.Errorf("combines %v by %d", in.Type, in.Kind)
	case src[0] != in.Type:
		return fmt.Errorf("an operand of type %v", src[0])
	}
	return verifyRows(k, in, k.Axes)
}

func verifySort(k *Kernel, in *Instr, src []DType) error {
	switch {
	case len(src) != 1:
		return fmt.Errorf("%d operands", len(src))
	case !Table[Sort].Types.Has(src[0]):
		return fmt.Errorf("an operand of type %v", src[0])
	case in.Type != Int32:
		return fmt.Errorf("result of type %v", in.Type)
	case in.View == nil || in.View.Len < 0 || in.View.Len > RowLen(k):
		return errors.New("more places than elements, or no view")
	case varying(in.View.Coef)&k.Roles(Reduced) != 0:
		return errors.New("a view that varies along rows")
	}
	axes := []Axis{{Len: in.View.Len}}
	for _, a := range k.Axes {
		if a.Role == Parallel {
			axes = append(axes, a)
		}
	}
	return verifyRows(k, in, axes)
}

// verifyRows checks that an instruction's result is argument 0, with an element for
// each point along axes.
func verifyRows(k *Kernel, in *Instr, axes []Axis) error {
	if in.Arg != 0 {
		return errors.New("argument 0 is not its result")
	}
	if err := verifyArg(k, in, Out); err != nil {
		return err
	}
	if err := verifyUnguarded(k, in.View); err != nil {
		return err
	}
	n := 1
	for _, a := range axes {
		n *= a.Len
	}
	if n != k.Args[0].Len {
		return fmt.Errorf("%d elements for a result of %d", n, k.Args[0].Len)
	}
	c := Instr{Op: Store, Domain: in.Domain, View: in.View}
	if in.Op == Sort {
		c.View = &View{Off: in.View.Off, Coef: append([]int{in.View.Stride}, rowCoef(k, in)...)}
		c.Domain = 1<<len(axes) - 1
	}
	_, err := rangeOf(&Kernel{Axes: axes, Args: k.Args}, &c)
	return err
}

// rowCoef lists the coefficients of a view for the parallel axes.
func rowCoef(k *Kernel, in *Instr) []int {
	var coef []int
	for i, a := range k.Axes {
		if a.Role == Parallel {
			coef = append(coef, in.View.Coef[i])
		}
	}
	return coef
}

// RowLen is the number of points of a kernel along reduced axes.
func RowLen(k *Kernel) int {
	n := 1
	for _, a := range k.Axes {
		if a.Role == Reduced {
			n *= a.Len
		}
	}
	return n
}
