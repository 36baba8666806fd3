package bench

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReport(t *testing.T) {
	var b bytes.Buffer
	Report{
		Peers: []Found{{Name: "numpy"}, {Name: "pytorch"}},
		Rows: []Comparison{
			{
				Work: "matmul/64", Unit: GFLOPs, Values: map[string]float64{Ours: 45, "numpy": 90, "pytorch": 100},
				Ratios: map[string]float64{"numpy": 0.5, "pytorch": 0.45}, Bar: Bar{Times: 0.5, Peers: []string{"numpy"}}, Ratio: 0.5, Met: true, Spread: 0.123,
			},
			{
				Work: "mlp/64", Unit: Millis, Values: map[string]float64{Ours: 10, "pytorch": 10.4},
				Ratios: map[string]float64{"pytorch": 1.04}, Bar: Bar{Times: 1.1, Peers: []string{"pytorch"}}, Ratio: 1.04,
			},
			{Work: "exp/1M", Unit: GElems, Values: map[string]float64{Ours: 2}, Bar: Bar{Times: 1.3, Peers: []string{"numpy", "pytorch"}}},
			{Work: "gpt2/memory", Unit: Memory, Values: map[string]float64{Ours: 13}, Bar: Bar{Most: 14}, Met: true},
			{
				Work: "gpt2", Unit: Millis, Values: map[string]float64{Ours: 10, "pytorch": 5},
				Ratios: map[string]float64{"pytorch": 0.5}, Bar: Bar{Peers: []string{"pytorch"}}, Ratio: 0.5,
			},
		},
	}.PrintRows(&b)
	want := `
work         unit     tensorken  numpy        pytorch      ratio  bar                   met  spread
matmul/64    GFLOP/s  45.0       90.0 (0.50)  100 (0.45)   0.50   ≥ 0.5 numpy           yes  12 %
mlp/64       ms       10.0       -            10.4 (1.04)  1.04   ≥ 1.1 pytorch         no   0 %
exp/1M       Gelem/s  2.00       -            -            -      ≥ 1.3 numpy, pytorch  -    0 %
gpt2/memory  GB       13.0       -            -            -      ≤ 14                  yes  0 %
gpt2         ms       10.0       -            5.00 (0.50)  0.50   -                     -    0 %
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
