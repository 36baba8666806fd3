package gpu

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// Parameters that the uniform buffer has still are not written again, and others take their place
// once it is full.
func TestUniforms(t *testing.T) {
	d, f := fake(t, 0)
	p := prepare(t, d, &increment)
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	const n = 200
	run := func(round int) (writes int) {
		t.Helper()
		calls, sum := chain(p, n, a, b), uint32(0)
		for i := range calls {
			calls[i].Args[2].Num += ir.Number(n * round)
			sum += uint32(n*round + i)
		}
		var got [4]byte
		err := d.Upload(a, 0, got[:])
		before := f.Writes
		if err == nil {
			err = d.Run(calls)
		}
		if err == nil {
			err = d.Download(got[:], a, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if get(got[:]) != sum {
			t.Fatalf("round %d: got %d, want %d", round, get(got[:]), sum)
		}
		return f.Writes - before
	}
	rounds := 3 * maxUniforms / n
	for r := range rounds {
		if run(r) == 0 || run(r) != 0 || r > 3 && run(r-3) != 0 {
			t.Fatalf("round %d: new parameters are to be written, and those of the last rounds not", r)
		}
	}
	if run(0) == 0 {
		t.Error("parameters that others replaced are not written")
	}
	f.Fail("a bad day")
	if err := d.Sync(); err == nil {
		t.Error("Sync tells no failure")
	}
	if run(0) == 0 {
		t.Error("after a failure, which may be that of a write, parameters are not written again")
	}
}
