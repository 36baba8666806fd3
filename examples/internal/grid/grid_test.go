package grid

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/tensor"
)

func TestDraw(t *testing.T) {
	x := tensor.From([][]float32{{0, 1, 2}, {-1, 0.5, 0.2}}).Reshape(2, 3, 1, 1) // 2 rows of 3 images of one pixel
	got := Draw(x)
	side := scale + 2*margin
	if want := fmt.Sprint([]int{2 * side, 3 * side, 1}); fmt.Sprint(got.Shape()) != want {
		t.Fatalf("the shape is %v, want %s", got.Shape(), want)
	}
	for i, want := range []float64{255, 0, 0, 255, 128, 204} { // the first pixel of each
		row, column := i/3*side+margin, i%3*side+margin
		if v := got.At(row, column, 0).Item(); v != want {
			t.Errorf("image %d is %v, want %v", i, v, want)
		}
		if v := got.At(row-1, column, 0).Item(); v != 255 {
			t.Errorf("above image %d is %v, want 255", i, v)
		}
	}
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grid.png")
	if err := Save(path, tensor.Zeros(2, 3, 8, 8)); err != nil {
		t.Fatal(err)
	}
	if x, err := imageio.Load(path, 0); err != nil || x.Dim(0) != 2*(8*scale+2*margin) {
		t.Errorf("the picture is %v, %v", x, err)
	}
}
