package ir

import (
	"slices"
	"testing"
)

func TestLoop(t *testing.T) {
	l := &Loop{Rows: 30, Matrix: 10, Part: 8, Block: 4}
	if l.Blocks() != 3 || l.Parts() != 2 {
		t.Errorf("%d blocks and %d parts, want 3 and 2", l.Blocks(), l.Parts())
	}
	for n, want := range map[int][]int{4: {0, 4, 10, 14, 20, 24}, 2: {8, 18, 28}, 3: nil} {
		if got := slices.Collect(l.Starts(n)); !slices.Equal(got, want) {
			t.Errorf("blocks of %d rows start at %v, want %v", n, got, want)
		}
	}
	a := StageArg{Steps: []RowStep{{Mod: 30, Div: 10, Mul: 100}, {Mod: 10, Div: 1, Mul: 3}}}
	if got := a.Offset(24); got != 212 {
		t.Errorf("the offset of row 24 is %d, want 212", got)
	}
}

// Loops that differ have different texts.
func TestLoopText(t *testing.T) {
	kernel := &Kernel{Template: Pointwise}
	loop := func(change func(l *Loop)) string {
		l := &Loop{
			Args: []Arg{{Kind: Out, DType: Float32, Len: 8}}, Temps: []Temp{{Float32, 4}},
			Clears: []Clear{{StageArg{Index: 0, Steps: []RowStep{{4, 2, 1}}}, 3}},
			Rows:   8, Matrix: 4, Part: 4, Block: 3,
			Body: []Stage{{kernel, []StageArg{{Temp: true}}}}, Last: []Stage{{kernel, []StageArg{{Temp: true}}}},
		}
		change(l)
		return string(l.Append(nil))
	}
	seen := map[string]bool{}
	changes := []func(l *Loop){
		func(*Loop) {},
		func(l *Loop) { l.Args[0].Len = 9 },
		func(l *Loop) { l.Temps[0].DType = Float16 },
		func(l *Loop) { l.Temps[0].Len = 5 },
		func(l *Loop) { l.Clears[0].Len = 4 },
		func(l *Loop) { l.Clears[0].Arg.Steps[0].Mul = 2 },
		func(l *Loop) { l.Rows = 12 },
		func(l *Loop) { l.Matrix = 8 },
		func(l *Loop) { l.Part = 3 },
		func(l *Loop) { l.Block = 2 },
		func(l *Loop) { l.Body[0].Args[0].Index = 1 },
		func(l *Loop) { l.Body[0].Args[0].Temp = false },
		func(l *Loop) { l.Last = nil },
		func(l *Loop) { l.Last, l.Body = l.Body, nil },
	}
	for _, c := range changes {
		seen[loop(c)] = true
	}
	if len(seen) != len(changes) {
		t.Errorf("%d texts of %d loops", len(seen), len(changes))
	}
}
