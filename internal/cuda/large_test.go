//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"flag"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

var largeOnCPU = flag.Bool("large", false, "compute TestLarge on the CPU")

// TestLarge computes tensors of more than 2³¹ elements, and of more than 4 GiB.
func TestLarge(t *testing.T) {
	if *largeOnCPU {
		large{t, tensor.CPU(), 65544, 32768}.run()
		return
	}
	need(t)
	if list, err := List(); err != nil || list[0].Memory < 40<<30 {
		t.Skip("a GPU with 40 GB is needed: ", err)
	}
	drv, err := open()
	if err != nil {
		t.Fatal(err)
	}
	dev := tensor.NewDevice(drv)
	defer dev.Close()
	large{t, dev, 65544, 32768}.run() // vectors of four elements
	large{t, dev, 65539, 32771}.run() // none
}

// A large is a test of tensors with rows and columns.
type large struct {
	*testing.T
	dev        *tensor.Device
	rows, cols int
}

// at is the element of a row and a column of l.matrix.
func (l large) at(i, j int) int { return (7*i+3*j)%251 - 125 }

// matrix is an int8 tensor on the device.
func (l large) matrix() tensor.Tensor {
	i, j := tensor.Arange(l.rows).Unsqueeze(1), tensor.Arange(l.cols)
	x := i.Mul(7).Add(j.Mul(3)).Rem(251).Sub(125).Cast(tensor.Int8).To(l.dev)
	l.must(tensor.Eval(x))
	return x
}

func (l large) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// check compares some elements of a matrix, among them the first and the last.
func (l large) check(what string, x tensor.Tensor, want func(i, j int) float64) {
	l.Helper()
	l.must(tensor.Eval(x))
	rows, cols := x.Dim(0), x.Dim(1)
	for _, i := range []int{0, rows / 3, rows - 1} {
		for _, j := range []int{0, cols / 2, cols - 1} {
			got := x.Slice(0, i, i+1).Slice(1, j, j+1).Cast(tensor.Float64).Item()
			if got != want(i, j) {
				l.Errorf("%s of %d×%d: element (%d, %d) is %v, want %v", what, l.rows, l.cols, i, j, got, want(i, j))
			}
		}
	}
}

func (l large) run() {
	x := l.matrix()
	rows, cols := l.rows, l.cols
	at := func(i, j int) float64 { return float64(l.at(i, j)) }
	l.check("a matrix", x, at)
	l.check("half", x.Div(2).Cast(tensor.BFloat16).Mul(0.5), func(i, j int) float64 { return float64(l.at(i, j)/2) / 2 })
	l.check("the transpose", x.Transpose(0, 1).Maximum(3), func(i, j int) float64 { return max(3, at(j, i)) })
	l.check("the flipped matrix", x.Flip(0, 1).Maximum(-100), func(i, j int) float64 { return max(-100, at(rows-1-i, cols-1-j)) })
	l.check("an edge", x.Slice(0, 1, rows).Slice(1, 1, cols).Minimum(7), func(i, j int) float64 { return min(7, at(i+1, j+1)) })
	last := x.Reshape(rows*cols).Slice(0, rows*cols-cols-1, rows*cols).Maximum(-99).Reshape(1, cols+1)
	l.check("the end of a vector", last, func(_, j int) float64 { return max(-99, at(rows-1-(cols-j)/cols, (j+cols-1)%cols)) })
	l.checkSums(x)
	l.checkRows(x)
	l.checkCopies(x)
	l.checkProduct()
	draw := func(d *tensor.Device) tensor.Tensor {
		return tensor.NewRNG(5).Ints(100, rows, cols).Cast(tensor.Int8).To(d)
	}
	here := draw(tensor.CPU()) // few elements are computed
	l.check("a draw", draw(l.dev), func(i, j int) float64 {
		return here.Slice(0, i, i+1).Slice(1, j, j+1).Cast(tensor.Float64).Item()
	})
}

// checkSums checks sums and maxima over rows, columns and all.
func (l large) checkSums(x tensor.Tensor) {
	sum := func(n int, at func(k int) int) (sum float64) {
		for k := range n {
			sum += float64(at(k))
		}
		return sum
	}
	l.check("sums of rows", x.Sum(1), func(i, _ int) float64 { return sum(l.cols, func(k int) int { return l.at(i, k) }) })
	l.check("sums of columns", x.Sum(0), func(_, j int) float64 { return sum(l.rows, func(k int) int { return l.at(k, j) }) })
	l.check("products of rows and themselves", x.Cast(tensor.Int32).Square().Sum(1), func(i, _ int) float64 {
		return sum(l.cols, func(k int) int { return l.at(i, k) * l.at(i, k) })
	})
	total := 0.0 // by the rests of rows, which all columns follow
	for i := range min(l.rows, 251) {
		n := (l.rows - i + 250) / 251
		total += float64(n) * sum(l.cols, func(k int) int { return l.at(i, k) })
	}
	if got := x.Sum().Cast(tensor.Float64).Item(); got != total {
		l.Errorf("the sum of %d×%d is %v, want %v", l.rows, l.cols, got, total)
	}
	if got := x.Reshape(l.rows*l.cols).CumSum(0).Slice(0, l.rows*l.cols-1, l.rows*l.cols).Cast(tensor.Float64).Item(); got != total {
		l.Errorf("the last running sum of %d×%d is %v, want %v", l.rows, l.cols, got, total)
	}
}

// checkCopies checks a copy to the host, and one from there.
func (l large) checkCopies(x tensor.Tensor) {
	data, err := tensor.Data[int8](x)
	l.must(err)
	if got, want := data[len(data)-1], int8(l.at(l.rows-1, l.cols-1)); got != want {
		l.Errorf("the last element of %d is read as %d, want %d", len(data), got, want)
	}
	l.check("a matrix from the host", tensor.New(data, l.rows, l.cols).To(l.dev).Maximum(-101), func(i, j int) float64 {
		return float64(max(-101, l.at(i, j)))
	})
}

// checkRows checks rows that are selected, added to, and sorted.
func (l large) checkRows(x tensor.Tensor) {
	picked := []int32{int32(l.rows - 1), 0, int32(l.rows / 2)}
	index := tensor.New(picked).To(l.dev)
	l.check("selected rows", x.Take(0, index), func(i, j int) float64 { return float64(l.at(int(picked[i]), j)) })
	n := l.rows * l.cols
	elements := x.Reshape(n).Take(0, tensor.New([]int64{0, -1, int64(n) / 2}).To(l.dev)).Unsqueeze(0)
	l.check("selected elements", elements, func(_, j int) float64 {
		at := []int{0, n - 1, n / 2}[j]
		return float64(l.at(at/l.cols, at%l.cols))
	})
	all := tensor.Arange(l.rows).Flip(0).To(l.dev)
	l.check("all rows, the last first", x.Take(0, all), func(i, j int) float64 { return float64(l.at(l.rows-1-i, j)) })
	more := tensor.Ones(len(picked), l.cols).Cast(tensor.Int8).To(l.dev)
	l.check("rows with a one added", x.Maximum(-120).AddAt(more, index), func(i, j int) float64 {
		y := max(-120, l.at(i, j))
		for _, p := range picked {
			if int(p) == i {
				y++
			}
		}
		return float64(y)
	})
	values, _ := x.BottomK(1, 2)
	l.check("the least of rows", values, func(i, j int) float64 {
		least := [2]int{127, 127}
		for k := range l.cols {
			if y := l.at(i, k); y < least[0] {
				least = [2]int{y, least[0]}
			} else if y < least[1] {
				least[1] = y
			}
		}
		return float64(least[j])
	})
}

// checkProduct checks a product whose result is large.
func (l large) checkProduct() {
	const depth = 16
	left := func(i, k int) int { return (i+k)%5 - 2 }
	right := func(k, j int) int { return (2*k+j)%7 - 3 }
	factor := func(rows, cols, step, n int) tensor.Tensor {
		i, j := tensor.Arange(rows).Unsqueeze(1), tensor.Arange(cols)
		return i.Mul(step).Add(j).Rem(n).Sub(n / 2).Cast(tensor.BFloat16).To(l.dev)
	}
	product := factor(l.rows, depth, 1, 5).MatMul(factor(depth, l.cols, 2, 7))
	l.check("a product", product, func(i, j int) float64 {
		sum := 0
		for k := range depth {
			sum += left(i, k) * right(k, j)
		}
		return float64(sum)
	})
}
