package tensor_test

import (
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

func TestMatMul(t *testing.T) {
	a, b := iota(2, 3).Add(1), iota(3, 2).Flip(0, 1).Add(1)
	v, w := floats(1, 2, 3), floats(1, 2, 3, 4)
	u8 := tensor.New([]uint8{200, 200}, 1, 2)
	i8 := tensor.New([]int8{-128, 127}, 1, 2)
	run(t, []check{
		of("matrices", a.MatMul(b), []int{2, 2}, 20, 14, 56, 41),
		of("batches", iota(2, 3, 5).MatMul(iota(2, 5, 2)), []int{2, 3, 2}, 60, 70, 160, 195, 260, 320, 1210, 1295, 1560, 1670, 1910, 2045),
		of("a batch and a matrix", iota(2, 1, 2).MatMul(iota(2, 2)), []int{2, 1, 2}, 2, 3, 6, 11),
		of("a matrix and a batch", iota(1, 2).MatMul(iota(2, 2, 1)), []int{2, 1, 1}, 1, 3),
		of("batches broadcast", tensor.Ones(2, 1, 1, 3).MatMul(tensor.Ones(4, 3, 1)), []int{2, 4, 1, 1}, 3, 3, 3, 3, 3, 3, 3, 3),
		same("a matrix and a vector", iota(4, 3).Add(1).MatMul(v), 14, 32, 50, 68),
		same("a vector and a matrix", w.MatMul(iota(4, 3).Add(1)), 70, 80, 90),
		of("vectors", floats(1, 2).MatMul(floats(3, 4)), []int{}, 11),
		of("a vector and a batch", floats(1, 2).MatMul(iota(3, 2, 2)), []int{3, 2}, 4, 7, 16, 19, 28, 31),
		of("a batch and a vector", iota(2, 2, 2).MatMul(floats(1, 2)), []int{2, 2}, 2, 8, 14, 20),
		of("nothing between", tensor.Ones(2, 0).MatMul(tensor.Ones(0, 2)), []int{2, 2}, 0, 0, 0, 0),
		of("no rows", tensor.Ones(0, 3).MatMul(tensor.Ones(3, 2)), []int{0, 2}),
		{"int32", ints(1, 2).MatMul(ints(3, 4).Reshape(2, 1)), tensor.Int32, []int{1}, []float64{11}},
		{"int8", i8.MatMul(i8.T()), tensor.Int32, []int{1, 1}, []float64{128*128 + 127*127}},
		{"int8 by Einsum", tensor.Einsum("ij,kj->ik", i8, i8), tensor.Int32, []int{1, 1}, []float64{128*128 + 127*127}},
		{"uint8", u8.MatMul(u8.T()), tensor.Int32, []int{1, 1}, []float64{80000}},
	})
}

func TestDot(t *testing.T) {
	ones := tensor.Ones
	run(t, []check{
		of("vectors", floats(1, 2).Dot(floats(3, 4)), []int{}, 11),
		of("matrices", iota(2, 2).Dot(iota(2, 2)), []int{2, 2}, 2, 3, 6, 11),
		same("a matrix and a vector", iota(4, 3).Add(1).Dot(floats(1, 2, 3)), 14, 32, 50, 68),
		of("scalar", tensor.Scalar(2).Dot(floats(1, 2)), []int{2}, 2, 4),
		of("a vector and more", floats(1, 2).Dot(iota(2, 2, 2)), []int{2, 2}, 4, 7, 16, 19),
		of("ranks add", ones(2, 3, 4).Dot(ones(1, 4, 2)).Sum(0), []int{1, 3, 1, 2}, 8, 8, 8, 8, 8, 8),
	})
	if got := ones(9, 5, 7, 4).Dot(ones(9, 5, 4, 3)).Shape(); len(got) != 6 || got[5] != 3 || got[3] != 9 {
		t.Errorf("Dot of [9 5 7 4] and [9 5 4 3] has shape %v, want [9 5 7 9 5 3]", got)
	}
}

func TestEinsum(t *testing.T) {
	a, b, s := iota(2, 3), iota(3, 2), iota(2, 2)
	batch := iota(2, 2, 3)
	e := tensor.Einsum
	run(t, []check{
		of("product", e("ij,jk->ik", a, b), []int{2, 2}, 10, 13, 28, 40),
		of("product, implicit", e("ij,jk", a, b), []int{2, 2}, 10, 13, 28, 40),
		of("transposed", e("ij,jk->ki", a, b), []int{2, 2}, 10, 28, 13, 40),
		of("batches", e("bik,bkj->bij", iota(2, 1, 2), iota(2, 2, 1)), []int{2, 1, 1}, 1, 13),
		of("outer", e("i,j->ij", floats(1, 2), floats(3, 4)), []int{2, 2}, 3, 4, 6, 8),
		of("inner", e("i,i->", floats(1, 2), floats(3, 4)), []int{}, 11),
		of("trace", e("ii", s), []int{}, 3),
		same("diagonal", e("ii->i", s), 0, 3),
		same("diagonal of three axes", e("iii->i", iota(2, 2, 2)), 0, 7),
		of("diagonal of a batch", e("bii->bi", iota(2, 2, 2)), []int{2, 2}, 0, 3, 4, 7),
		of("sum", e("ij->", a), []int{}, 15),
		same("sum of rows", e("ij->i", a), 3, 12),
		of("transpose", e("ij->ji", a), []int{3, 2}, 0, 3, 1, 4, 2, 5),
		of("transpose, implicit", e("ba", a), []int{3, 2}, 0, 3, 1, 4, 2, 5),
		of("three", e("ij,jk,kl->il", a, b, s), []int{2, 2}, 26, 49, 80, 148),
		of("one letter in one tensor", e("ij,k->i", a, floats(1, 2)), []int{2}, 9, 36),
		of("ellipsis", e("...ij,jk->...ik", batch, b), []int{2, 2, 2}, 10, 13, 28, 40, 46, 67, 64, 94),
		of("ellipsis, implicit", e("...j,j", a, floats(1, 2, 3)), []int{2}, 8, 26),
		of("ellipsis broadcasts", e("...i,...i->...", floats(1, 2), s), []int{2}, 2, 8),
		same("ellipsis summed", e("...i->i", a), 3, 5, 7),
		of("attention", e("bhqd,bhkd->bhqk", iota(1, 1, 2, 2), iota(1, 1, 2, 2)), []int{1, 1, 2, 2}, 1, 3, 3, 13),
		of("spaces", e(" i j , j k -> i k ", a, b), []int{2, 2}, 10, 13, 28, 40),
		{"int32", e("i,i", ints(1, 2), ints(3, 4)), tensor.Int32, []int{}, []float64{11}},
	})
}
