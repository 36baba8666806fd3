package image

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
)

// Boxes has the operators that choose boxes.
var Boxes = []op.Row{op.New("NonMaxSuppression", nonMaxSuppression)}

// A box has its corners, in float32 as the threshold: an overlap of 0.7 in float64 is more than 0.7 in float32.
type box struct{ x0, y0, x1, y1 float32 }

func boxOf(list []float64, center bool) box {
	var v [4]float32
	for i := range v {
		v[i] = float32(list[i])
	}
	if center {
		return box{v[0] - v[2]/2, v[1] - v[3]/2, v[0] + v[2]/2, v[1] + v[3]/2}
	}
	return box{min(v[1], v[3]), min(v[0], v[2]), max(v[1], v[3]), max(v[0], v[2])}
}

// area is rounded, as products below: a fused multiply-add would not be.
func (b box) area() float32 { return float32((b.x1 - b.x0) * (b.y1 - b.y0)) }

// overlap returns the share of the union of two boxes that both have.
func (b box) overlap(o box) float32 {
	w, h := min(b.x1, o.x1)-max(b.x0, o.x0), min(b.y1, o.y1)-max(b.y0, o.y0)
	union := b.area() + o.area() - float32(w*h)
	if w <= 0 || h <= 0 || b.area() <= 0 || o.area() <= 0 || union <= 0 {
		return 0
	}
	return w * h / union
}

// nonMaxSuppression chooses, of each class, boxes of the best scores that overlap little. It runs on the
// host, since the number of boxes depends on the elements.
func nonMaxSuppression(c *op.Call) []op.Value {
	boxes, scores := c.Floats(0), c.Floats(1)
	bs, ss := c.In[0].Dims(), c.In[1].Dims()
	if len(bs) != 3 || bs[2] != 4 || len(ss) != 3 || ss[0] != bs[0] || ss[2] != bs[1] {
		c.Fail("the boxes have shape %v, the scores %v", bs, ss)
	}
	most, limit, least, thresholded := 0, 0.0, 0.0, false
	if c.Has(2) {
		most = max(0, c.ScalarInt(2))
	}
	if c.Has(3) {
		limit = c.Scalar(3)
	}
	if c.Has(4) {
		least, thresholded = c.Scalar(4), true
	}
	center := c.Bool("center_point_box", false)
	n := bs[1]
	var out []int
	for b := range ss[0] {
		all := make([]box, n)
		for i := range all {
			all[i] = boxOf(boxes[(b*n+i)*4:], center)
		}
		for class := range ss[1] {
			score := scores[(b*ss[1]+class)*n:][:n]
			var order []int
			for i := range n {
				if !thresholded || score[i] > least {
					order = append(order, i)
				}
			}
			slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
			var chosen []int
			for _, i := range order {
				if len(chosen) == most {
					break
				}
				if !slices.ContainsFunc(chosen, func(j int) bool { return float64(all[i].overlap(all[j])) > limit }) {
					chosen = append(chosen, i)
					out = append(out, b, class, i)
				}
			}
		}
	}
	return []op.Value{op.Given(op.KnownInts(out, len(out)/3, 3))}
}
