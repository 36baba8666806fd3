package bench

import (
	"math"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// The programs in bench/peers make the same inputs: these are printed by peer.py.
func TestInputs(t *testing.T) {
	in := newInputs(tensor.CPU())
	near(t, "floats(1, 2, 2)", in.floats(1, 2, 2), 1e-7, 0.14679515, 0.1767875, 0.40826738, 0.85552573)
	near(t, "floats(4, 2)", in.floats(4, 2), 1e-7, -2.0987687, -3.4144883)
	if got, err := tensor.Data[int32](in.ints(10, 5)); err != nil || !slices.Equal(got, []int32{6, 4, 8, 9, 7}) {
		t.Errorf("ints(10, 5) = %v, %v", got, err)
	}
}

// near fails unless the elements of x are those wanted, up to a part of the largest.
func near(t *testing.T, name string, x tensor.Tensor, tolerance float64, want ...float64) {
	t.Helper()
	got, err := tensor.Data[float32](x.Cast(tensor.Float32))
	if err != nil || len(got) != len(want) {
		t.Errorf("%s has %d elements, want %d: %v", name, len(got), len(want), err)
		return
	}
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-v) <= tolerance*largest) {
			t.Errorf("%s: element %d is %v, want %v", name, i, got[i], v)
		}
	}
}

// TestWorks compares works at a small size with their definitions.
func TestWorks(t *testing.T) {
	const n = 5
	each := func(f func(v float64) float64) func(x [][]float64) []float64 {
		return func(x [][]float64) (y []float64) {
			for _, v := range x[0] {
				y = append(y, f(v))
			}
			return y
		}
	}
	for _, c := range []struct {
		name   string
		start  setup
		inputs func(in *inputs) []tensor.Tensor
		want   func(x [][]float64) []float64
	}{
		{"exp", unary(tensor.Tensor.Exp, 4, n), floats(4, []int{n}), each(math.Exp)},
		{"gelu", unary(tensor.Tensor.GELU, 4, n), floats(4, []int{n}), each(func(v float64) float64 {
			return v / 2 * (1 + math.Erf(v/math.Sqrt2))
		})},
		{"sum", unary(total, 1, n), floats(1, []int{n}), func(x [][]float64) []float64 { return []float64{sumOf(x[0])} }},
		{"chain", binary(chain, n), floats(1, []int{n}, []int{n}), func(x [][]float64) (y []float64) {
			for i, a := range x[0] {
				y = append(y, max(0, (a*x[1][i]+a)*0.5-x[1][i]))
			}
			return y
		}},
		{"matmul", matmul(n), floats(1, []int{n, n}, []int{n, n}), func(x [][]float64) []float64 {
			y := make([]float64, n*n)
			for i := range y {
				for k := range n {
					y[i] += x[0][i/n*n+k] * x[1][k*n+i%n]
				}
			}
			return y
		}},
		{"transpose", unary(transposed, 1, n, n), floats(1, []int{n, n}), func(x [][]float64) []float64 {
			y := make([]float64, n*n)
			for i := range y {
				y[i] = x[0][i%n*n+i/n] + 1
			}
			return y
		}},
		{"argmax", unary(argMax, 1, n, n), floats(1, []int{n, n}), func(x [][]float64) (y []float64) {
			for row := range slices.Chunk(x[0], n) {
				y = append(y, float64(slices.Index(row, slices.Max(row))))
			}
			return y
		}},
		{"row sums", unary(rowSums, 1, n, n), floats(1, []int{n, n}), func(x [][]float64) (y []float64) {
			for row := range slices.Chunk(x[0], n) {
				y = append(y, sumOf(row))
			}
			return y
		}},
		{"column sums", unary(columnSums, 1, n, n), floats(1, []int{n, n}), func(x [][]float64) []float64 {
			y := make([]float64, n)
			for i, v := range x[0] {
				y[i%n] += v
			}
			return y
		}},
		{"softmax", unary(softmax, 4, n, n), floats(4, []int{n, n}), func(x [][]float64) (y []float64) {
			for row := range slices.Chunk(x[0], n) {
				e := each(math.Exp)([][]float64{row})
				for _, v := range e {
					y = append(y, v/sumOf(e))
				}
			}
			return y
		}},
		{"layer norm", layerNorm(n), func(in *inputs) []tensor.Tensor {
			return []tensor.Tensor{in.floats(4, n, n), in.floats(1, n), in.floats(1, n)}
		}, func(x [][]float64) (y []float64) {
			for row := range slices.Chunk(x[0], n) {
				mean, variance := sumOf(row)/n, 0.0
				for _, v := range row {
					variance += (v - mean) * (v - mean) / n
				}
				for i, v := range row {
					y = append(y, (v-mean)/math.Sqrt(variance+1e-5)*x[1][i]+x[2][i])
				}
			}
			return y
		}},
		{"conv", conv(1, 2, n), floats(1, []int{1, 2, n, n}, []int{2, 2, 3, 3}), func(x [][]float64) []float64 {
			y := make([]float64, 2*n*n)
			for i := range y {
				out, row, column := i/(n*n), i/n%n, i%n
				for k, w := range x[1][out*18 : out*18+18] {
					r, c := row+k/3%3-1, column+k%3-1
					if r >= 0 && r < n && c >= 0 && c < n {
						y[i] += w * x[0][k/9*n*n+r*n+c]
					}
				}
			}
			return y
		}},
	} {
		var x [][]float64
		for _, in := range c.inputs(newInputs(tensor.CPU())) {
			data, err := tensor.Data[float32](in)
			if err != nil {
				t.Fatal(err)
			}
			var wide []float64
			for _, v := range data {
				wide = append(wide, float64(v))
			}
			x = append(x, wide)
		}
		y, err := c.start(newInputs(tensor.CPU()))()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		near(t, c.name, y, 1e-5, c.want(x)...)
	}
}

// floats returns inputs of the given shapes.
func floats(scale float64, shapes ...[]int) func(in *inputs) []tensor.Tensor {
	return func(in *inputs) (x []tensor.Tensor) {
		for _, s := range shapes {
			x = append(x, in.floats(scale, s...))
		}
		return x
	}
}

func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// tiny is a transformer for tests.
var tiny = size{layers: 2, width: 32, heads: 4, length: 16, batch: 2, vocabulary: 50}

// Works have the results that PyTorch 1.13 has in bench/peers: training steps their losses.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		name      string
		start     setup
		tolerance float64
		want      []float64
	}{
		{"mlp", mlp(64), 1e-5, []float64{2.3099897, 2.0742874, 1.8659010, 1.6410122}},
		{"transformer", trainTransformer(smallTransformer), 1e-5, []float64{5.6789002, 5.3373661, 5.0715330, 4.8323798}},
		{"transformer, bfloat16", halved(bf16, trainTransformer(tiny)), 2e-3, []float64{4.232997, 3.9324985, 3.7021215, 3.5137057}},
		{"GPT", trainGPT(tiny), 1e-5, []float64{3.9153402, 3.8974717, 3.8793418, 3.8609555}},
		{"LSTM", lstm(8, 1000, 32, 64, 1, false), 1e-5, []float64{0.0066114264, 0.0062239757, 0.0058775255, 0.0055661085}},
		{"attention", attention(false, 1, 2, 5, 4), 1e-6, []float64{
			-0.33328933, -0.22320746, 0.31632137, -0.18746744, -0.28906307, 0.38109988, -0.02118085, -0.22404972,
			0.00591438, 0.05368378, 0.17421018, 0.08259463, -0.01119183, -0.52162921, -0.0605284, -0.06516321,
		}},
		{"causal attention", attention(true, 1, 2, 5, 4), 1e-6, []float64{
			-0.78843725, -0.85490811, 0.36533093, 0.10041317, -0.22150832, 0.31531036, 0.03141597, -0.22404972,
			-0.57700336, -0.94313633, 0.1810706, -0.08378509, -0.30867374, -0.58158624, -0.0605284, -0.06516321,
		}},
		{"gradient of causal attention", attentionGradient(true, 1, 2, 5, 4), 1e-6, []float64{
			0, 0, 0.0917457, 0.03803245, 0.17223702, -0.09324639, -0.04151423, -0.20851664,
			0, 0, -0.04131315, -0.22062242, -0.17663114, 0.04573725, 0.0993632, -0.08696789,
		}},
	} {
		if testing.Short() && (c.name == "LSTM" || c.name == "transformer") { // the large ones
			continue
		}
		w := Work{Name: c.name, Unit: Micros, start: c.start}
		if len(c.want) == 4 {
			w.Unit = Millis
		}
		got, err := MeasureWork(t.Context(), w, tensor.CPU(), time.Nanosecond)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.Work != c.name || got.Seconds <= 0 {
			t.Errorf("MeasureWork(%s) = %+v", c.name, got)
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < c.tolerance }
		if !slices.EqualFunc(got.Sample, c.want, near) {
			t.Errorf("%s: %v, want %v", c.name, got.Sample, c.want)
		}
	}
}

// A sample is spread over the whole result.
func TestSample(t *testing.T) {
	for _, c := range []struct {
		n          int
		last, size float64
	}{{1, 0, 1}, {3, 2, 3}, {16, 15, 16}, {1000, 999, 16}} {
		got, err := appendSample(nil, tensor.Arange(c.n).Cast(tensor.Float32))
		if err != nil || len(got) != int(c.size) || got[0] != 0 || got[len(got)-1] != c.last || !slices.IsSorted(got) {
			t.Errorf("the sample of %d elements is %v, %v", c.n, got, err)
		}
	}
}

func TestWorkTable(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+[0-9]*(/[0-9a-zM]+)*$`)
	for _, device := range []string{"", "cuda", "webgpu"} {
		seen, bars := map[string]bool{}, 0
		for _, w := range SuiteOf(device).Works {
			if !name.MatchString(w.Name) || seen[w.Name] {
				t.Errorf("work %q: want a name of its own like %v", w.Name, name)
			}
			seen[w.Name] = true
			if (w.Unit == Millis || w.Unit == Micros) != (w.Amount == 0) || len(w.Bar.Peers) == 0 || factors[w.Unit] == 0 {
				t.Errorf("work %s of %q is incomplete: %+v", w.Name, device, w)
			}
			if w.Bar.Times > 0 || w.Bar.Most > 0 {
				bars++
			}
		}
		if bars != len(seen) && device != "webgpu" { // its halves have no bars
			t.Errorf("%d of %d works of %q have a bar", bars, len(seen), device)
		}
	}
	for _, c := range []struct {
		work Work
		want float64
	}{
		{Work{Unit: GFLOPs, Amount: 4e9}, 2},
		{Work{Unit: GElems, Amount: 1e9}, 0.5},
		{Work{Unit: TFLOPs, Amount: 4e12}, 2},
		{Work{Unit: GBytes, Amount: 4e9}, 2},
		{Work{Unit: Millis}, 2000},
		{Work{Unit: Micros}, 2e6},
		{Work{Unit: Memory}, 2e-9},
	} {
		if got := c.work.Value(2); got != c.want {
			t.Errorf("2 s are %v %s, want %v", got, c.work.Unit, c.want)
		}
	}
	if got, want := atLeast(0.95, either).String(), "≥ 0.95 numpy, pytorch"; got != want {
		t.Errorf("bar %q, want %q", got, want)
	}
}

// A step of the Llama lowers the loss.
func TestLlama(t *testing.T) {
	s := llamaSize{size{layers: 2, width: 32, heads: 2, length: 16, batch: 2, vocabulary: 64}, 48}
	in := newInputs(tensor.CPU())
	in.dtype = bf16
	step := s.train(in, &optim.Optimizer{Rule: optim.AdamW{}, LR: 1e-2, MasterWeights: true})
	var losses []float64
	for range 4 {
		loss, err := step()
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss.Item())
	}
	if math.Abs(losses[0]-math.Log(64)) > 0.5 || !(losses[3] < losses[0]-0.1) {
		t.Errorf("losses %v, want less and less, from about %.1f", losses, math.Log(64))
	}
}
