package images

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// A picture is an image that a transform changes in place.
type picture struct {
	data    []float32 // [c h w]
	c, h, w int
}

// open returns a copy of an image.
func open(x tensor.Tensor) (*picture, error) {
	if !x.IsValid() || x.Rank() != 3 || x.DType() != tensor.Float32 || x.Dim(1) == 0 || x.Dim(2) == 0 {
		what := "an absent tensor"
		if x.IsValid() {
			what = fmt.Sprintf("%v %v", x.DType(), x.Shape())
		}
		return nil, fmt.Errorf("images: want float32 [channels height width] with pixels, not %s", what)
	}
	data, err := tensor.Data[float32](x)
	return &picture{data, x.Dim(0), x.Dim(1), x.Dim(2)}, err
}

// plane returns the pixels of a channel.
func (p *picture) plane(c int) []float32 { return p.data[c*p.h*p.w:][:p.h*p.w] }

// colors returns the number of channels that are colors, without alpha.
func (p *picture) colors() int { return colors(p.c) }

func colors(c int) int {
	if c >= 3 {
		return 3
	}
	return min(c, 1)
}

// replace replaces the pixels by f's, which fills a plane of another size.
func (p *picture) replace(h, w int, f func(to, from []float32)) {
	to := make([]float32, p.c*h*w)
	for c := range p.c {
		f(to[c*h*w:][:h*w], p.plane(c))
	}
	p.data, p.h, p.w = to, h, w
}

// crop cuts out h rows from y on and w columns from x on; places outside get the value
// fill.
func (p *picture) crop(y, x, h, w int, fill float32) {
	ph, pw := p.h, p.w
	p.replace(h, w, func(to, from []float32) {
		for i := range h {
			row := to[i*w:][:w]
			if y+i < 0 || y+i >= ph || x >= pw || x+w <= 0 {
				for j := range row {
					row[j] = fill
				}
				continue
			}
			left, right := max(0, -x), min(w, pw-x)
			for j := range left {
				row[j] = fill
			}
			for j := right; j < w; j++ {
				row[j] = fill
			}
			copy(row[left:right], from[(y+i)*pw+x+left:])
		}
	})
}

// A tap is a part of an element that is interpolated: weights of elements from start on.
type tap struct {
	start   int
	weights []float32
}

// taps returns the taps of an axis that is resized from n to m elements, of a triangle that is
// widened where the axis gets shorter, so that no element is skipped.
func taps(n, m int) []tap {
	scale := float64(n) / float64(m)
	support := max(scale, 1)
	all := make([]tap, m)
	for i := range all {
		center := (float64(i) + 0.5) * scale
		start := max(int(center-support+0.5), 0)
		end := min(int(center+support+0.5), n)
		weights, sum := make([]float32, end-start), 0.0
		for j := range weights {
			w := max(0, 1-math.Abs((float64(start+j)+0.5-center)/support))
			weights[j] = float32(w)
			sum += w
		}
		for j := range weights {
			weights[j] /= float32(sum)
		}
		all[i] = tap{start, weights}
	}
	return all
}

// resize resizes bilinearly, with antialiasing.
func (p *picture) resize(h, w int) {
	if p.w != w {
		columns, ph, pw := taps(p.w, w), p.h, p.w
		p.replace(ph, w, func(to, from []float32) {
			for y := range ph {
				row, out := from[y*pw:][:pw], to[y*w:][:w]
				for x, t := range columns {
					sum := float32(0)
					for j, v := range row[t.start:][:len(t.weights)] {
						sum += v * t.weights[j]
					}
					out[x] = sum
				}
			}
		})
	}
	if p.h != h {
		rows := taps(p.h, h)
		p.replace(h, w, func(to, from []float32) {
			for y, t := range rows {
				out := to[y*w:][:w]
				for j, weight := range t.weights {
					for x, v := range from[(t.start+j)*w:][:w] {
						out[x] += v * weight
					}
				}
			}
		})
	}
}

// A matrix maps centers of pixels of the result, as offsets from its center, to centers of pixels of the
// image: x' = m[0]x + m[1]y + m[2], y' = m[3]x + m[4]y + m[5].
type matrix [6]float64

// affine returns the matrix of a rotation by an angle, clockwise, after a scaling and a shear along the
// rows, then a translation: PyTorch's torchvision.transforms.v2.functional.affine. Angles are in degrees.
func affine(angle, dx, dy, scale, shear float64) matrix {
	rot, s := angle*math.Pi/180, shear*math.Pi/180
	sin, cos := math.Sincos(rot)
	// The inverse of scale·[a b; c d].
	a, b, c, d := cos, -cos*math.Tan(s)-sin, sin, -sin*math.Tan(s)+cos
	m := matrix{d / scale, -b / scale, 0, -c / scale, a / scale, 0}
	m[2], m[5] = -m[0]*dx-m[1]*dy, -m[3]*dx-m[4]*dy
	return m
}

// warp moves pixels by a matrix, bilinearly; places outside get the value fill.
func (p *picture) warp(m matrix, fill float32) {
	h, w := p.h, p.w
	at := func(from []float32, y, x int) float32 {
		if y < 0 || y >= h || x < 0 || x >= w {
			return fill
		}
		return from[y*w+x]
	}
	p.replace(h, w, func(to, from []float32) {
		for i := range h {
			y := float64(i) + 0.5 - float64(h)/2
			for j := range w {
				x := float64(j) + 0.5 - float64(w)/2
				fx := m[0]*x + m[1]*y + m[2] + float64(w)/2 - 0.5
				fy := m[3]*x + m[4]*y + m[5] + float64(h)/2 - 0.5
				if !(fx > -1 && fx < float64(w) && fy > -1 && fy < float64(h)) {
					to[i*w+j] = fill
					continue
				}
				x0, y0 := int(fx+1)-1, int(fy+1)-1 // floors
				u, v := float32(fx-float64(x0)), float32(fy-float64(y0))
				if x0 >= 0 && x0 < w-1 && y0 >= 0 && y0 < h-1 {
					q := from[y0*w+x0:]
					top, bottom := q[0]+u*(q[1]-q[0]), q[w]+u*(q[w+1]-q[w])
					to[i*w+j] = top + v*(bottom-top)
					continue
				}
				top := (1-u)*at(from, y0, x0) + u*at(from, y0, x0+1)
				bottom := (1-u)*at(from, y0+1, x0) + u*at(from, y0+1, x0+1)
				to[i*w+j] = (1-v)*top + v*bottom
			}
		}
	})
}

// flip reverses the rows or the columns.
func (p *picture) flip(vertical bool) {
	for c := range p.c {
		plane := p.plane(c)
		for y := range p.h {
			row := plane[y*p.w:][:p.w]
			if !vertical {
				for a, b := 0, p.w-1; a < b; a, b = a+1, b-1 {
					row[a], row[b] = row[b], row[a]
				}
			} else if other := p.h - 1 - y; y < other {
				for x, v := range plane[other*p.w:][:p.w] {
					plane[other*p.w+x], row[x] = row[x], v
				}
			}
		}
	}
}
