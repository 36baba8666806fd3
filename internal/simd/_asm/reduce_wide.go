package main

import "github.com/mmcloughlin/avo/operand"

// maxAdds is a number of additions to a lane, with those of other lanes that are added to it
// no more than 2^16, for which sums of 16 bits fit in 32.
const maxAdds = 1 << 14

// extendedAlong is along for sums of extended elements, with fewer instructions than to extend
// each. It adds elements in 32 bits, where they wrap, and their upper halves besides, which do
// not: the difference is the sum of the lower halves.
func (w *reducer) extendedAlong(name, shift string) string {
	name += "Along"
	p := w.begin(name, "func(acc, x *byte, rows, n int)", "acc", "x", "rows", "n")
	acc, x, rows, n := p[0], p[1], p[2], p[3]
	lanes, left, count := w.width/w.size, w.GP64(), w.GP64()
	row, block, several, done, one, tail, rest, end := w.label("row"), w.label("block"), w.label("several"), w.label("done"), w.label("one"), w.label("tail"), w.label("rest"), w.label("end")
	w.Label(row)
	w.DECQ(rows)
	w.jump(w.JLT, end)
	w.MOVQ(n, left)
	total := w.broadcast(i64(0))
	sums, uppers := [2]vec{}, [2]vec{}
	for i := range sums {
		sums[i], uppers[i] = w.broadcast(i32(0)), w.broadcast(i32(0))
	}
	add := func(i int, v vec) {
		w.do("VPADDD", v, sums[i], sums[i])
		w.do("VPADDD", w.v(shift, 16, v), uppers[i], uppers[i])
	}
	load := func(i int) vec { return w.v("VMOVUPS", operand.Mem{Base: x, Disp: i * w.width}) }
	flush := func() {
		upper := w.v("VPADDD", uppers[0], uppers[1])
		lower := w.v("VPSUBD", w.v("VPSLLD", 16, upper), w.v("VPADDD", sums[0], sums[1]))
		for half := range 2 {
			of := func(extend string, v vec) vec {
				low := w.part(v, w.width/2)
				if half == 1 {
					low = w.vn(w.width/2, map[int]string{32: "VEXTRACTI128", 64: "VEXTRACTI64X4"}[w.width], 1, v)
				}
				return w.v(extend, low)
			}
			w.do("VPADDQ", of("VPMOVZXDQ", lower), total, total)
			w.do("VPADDQ", w.v("VPSLLQ", 16, of(w.extend, upper)), total, total)
		}
	}

	w.Label(block)
	w.MOVQ(operand.I32(maxAdds), count)
	w.Label(several)
	w.SUBQ(operand.I32(2*lanes), left)
	w.jump(w.JLT, done)
	for i := range sums {
		add(i, load(i))
	}
	w.advance(x, nil, 2)
	w.DECQ(count)
	w.jump(w.JNE, several)
	flush()
	for i := range sums {
		w.do("VXORPS", sums[i], sums[i], sums[i])
		w.do("VXORPS", uppers[i], uppers[i], uppers[i])
	}
	w.jump(w.JMP, block)
	w.Label(done)
	w.ADDQ(operand.I32(2*lanes), left)
	w.Label(one)
	w.SUBQ(operand.I32(lanes), left)
	w.jump(w.JLT, tail)
	add(0, load(0))
	w.advance(x, nil, 1)
	w.jump(w.JMP, one)
	w.Label(tail)
	w.ADDQ(operand.I32(lanes), left)
	w.jump(w.JEQ, rest)
	add(0, w.padded(x, left))
	w.LEAQ(operand.Mem{Base: x, Index: left, Scale: uint8(w.size)}, x)
	w.Label(rest)
	flush()
	sum := w.combine(w.horizontal(total, w.acc, w.combine), w.splat(acc, w.acc))
	w.VMOVQ(sum.AsX(), operand.Mem{Base: acc})
	w.ADDQ(operand.I32(w.acc), acc)
	w.jump(w.JMP, row)
	w.Label(end)
	w.end()
	return name + w.level
}
