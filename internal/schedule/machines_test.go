package schedule

import "testing"

// A machine's figures decide how a product is computed: by larger tiles and fewer parts of the depth where there are
// fewer compute units, or slower memory for the parts.
func TestMachines(t *testing.T) {
	for _, c := range []struct{ name, square, deep string }{
		{"NVIDIA H200", "32x64x16:1x1/1", "32x64x16:1x1/64"},
		{"Intel(R) Arc(TM) A770 Graphics", "64x64x16:1x1/1", "64x64x16:1x1/32"},
		{"Apple M1", "128x128x8:2x2/1", "64x64x16:1x1/16"},
		{"of no known kind", "32x64x16:1x1/1", "32x64x16:1x1/64"},
	} {
		target := big
		target.SharedBytes = 32 << 10
		target.Units, target.Machine = MachineOf(c.name)
		for _, x := range []struct {
			want    string
			m, n, k int
		}{{c.square, 512, 512, 512}, {c.deep, 64, 64, 1 << 14}} {
			list := Choices(dense(1, x.m, x.n, x.k, f32, false), target)
			if got := list[0][0].String(); got != x.want {
				t.Errorf("%s computes %d×%d×%d by %s, want %s", c.name, x.m, x.n, x.k, got, x.want)
			}
		}
	}
}

// A row of machines that a row before it hides is of no use.
func TestMachineOf(t *testing.T) {
	for _, r := range machines {
		if units, m := MachineOf("The " + r.name + " (R)"); units != r.units || m.Adds != r.adds || m.Bandwidth != r.bandwidth {
			t.Errorf("%s has %d units, %v", r.name, units, m)
		}
		if unit := r.adds / float64(r.units); unit < 80e9 || unit > 400e9 || r.bandwidth/r.adds < 0.02 || r.bandwidth/r.adds > 0.2 {
			t.Errorf("%s: %.3g additions of a unit, %.2f bytes for each", r.name, unit, r.bandwidth/r.adds)
		}
	}
}
