package product

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

func (r *winogradRunner) Run(x *vector.Executor) error {
	if r.shared {
		x.Shared = vector.Grow(x.Shared, r.cols.Count*r.depth.Count*r.panelBytes())
		if err := x.Do(winogradWeights{r}, r.cols.Count*r.depth.Count, r.work); err != nil {
			return err
		}
	}
	return x.Do(r, r.rows.Count*r.groups, r.work)
}

// panelBytes is the size of the transformed weights of a block of channels and columns.
func (r *winogradRunner) panelBytes() int { return planesOf(r.deep * r.cols.MaxPoints()) }

// Begin lays out a worker's scratch.
func (r *winogradRunner) Begin(x *vector.Executor, w *vector.Worker) {
	w.Last = -1
	for i, p := range []*vector.Program{r.windows.program, r.weights, r.after.program} {
		w.Activations[i].Enter(p, x.Bind, r.memory(w, i), &w.Bad)
	}
}

// memory returns the address of part i of a worker's memory.
func (r *winogradRunner) memory(w *vector.Worker, i int) unsafe.Pointer {
	at, all := 0, 0
	for j, n := range r.bytes {
		if j < i {
			at += n
		}
		all += n
	}
	return unsafe.Add(w.Scratch(all), at)
}

// winogradWeights transforms the weights of a block of channels and columns per task.
type winogradWeights struct{ *winogradRunner }

func (j winogradWeights) Task(x *vector.Executor, w *vector.Worker, i int) {
	j.cols.MoveTo(&w.Activations[1], i/j.depth.Count)
	j.depth.MoveTo(&w.Activations[1], i%j.depth.Count)
	j.transformWeights(&w.Activations[1], unsafe.Add(vector.Base(x.Shared), i*j.panelBytes()))
}

// transformWeights transforms the weights of an activation's block, which it reads in place if columns are adjacent in memory.
func (r *winogradRunner) transformWeights(f *vector.Activation, to unsafe.Pointer) {
	n, channels, size := r.cols.Size(f), r.channelsOf(f), ir.Float32.Size()
	var from unsafe.Pointer
	row, column := tapSide*n, n
	deep, wide := spread{channels, tapSide * tapSide * n, 1, 0}, spread{n, 1, 1, 0}
	if x, along, across, ok := r.located(f); ok {
		from, deep, wide, row, column = x, along, across, r.apart[0], r.apart[1]
	} else {
		f.Run()
		from = f.Reg[r.weight]
	}
	first := 0
	if r.down.reversed {
		first += (tapSide - 1) * row
		row = -row
	}
	if r.along.reversed {
		first += (tapSide - 1) * column
		column = -column
	}
	for c := range channels {
		for i := range wide.runs {
			at := first + c*deep.step + i*wide.far
			simd.Winograd.Weights(unsafe.Add(to, (c*n+i*wide.n)*size), unsafe.Add(from, at*size), wide.n, planeOf(channels*n), row, column)
		}
	}
}

// located returns the address of weights, and their strides along channels and columns. ok is false unless columns are adjacent.
func (r *winogradRunner) located(f *vector.Activation) (p unsafe.Pointer, channels, cols spread, ok bool) {
	if r.inMemory == nil {
		return nil, channels, cols, false
	}
	p, channels, cols, ok = r.inMemory.locate(f)
	return p, channels, cols, ok && channels.runs == 1 && cols.step == 1
}

// channelsOf is the number of channels of an activation's block.
func (r *winogradRunner) channelsOf(f *vector.Activation) int {
	return r.depth.Size(f) / (tapSide * tapSide)
}

// Task computes a group of columns of a strip of rows.
func (r *winogradRunner) Task(x *vector.Executor, w *vector.Worker, i int) {
	images, weights, result := &w.Activations[0], &w.Activations[1], &w.Activations[2]
	elements, products := r.memory(w, 3), r.memory(w, 5)
	strip := i / r.groups
	r.rows.MoveTo(images, strip)
	r.rows.MoveTo(result, strip)
	down, along := ir.CeilDiv(result.N[r.down.position], tileResults), ir.CeilDiv(result.N[r.along.position], tileResults)
	tiles := r.rows.Size(result) / (result.N[r.down.position] * result.N[r.along.position]) * down * along
	if w.Last != strip {
		for k := range r.depth.Count {
			r.depth.MoveTo(images, k)
			r.transformImages(images, unsafe.Add(elements, k*planesOf(r.tiles*r.deep)), down, along)
		}
		w.Last = strip
	}
	some := ir.CeilDiv(r.cols.Count, r.groups)
	for j := i % r.groups * some; j < min((i%r.groups+1)*some, r.cols.Count); j++ {
		r.rows.MoveTo(result, strip) // the work after the sums has moved it
		r.cols.MoveTo(result, j)
		r.cols.MoveTo(weights, j)
		n := r.cols.Size(result)
		for k := range r.depth.Count {
			r.depth.MoveTo(weights, k)
			panel := unsafe.Add(vector.Base(x.Shared), (j*r.depth.Count+k)*r.panelBytes())
			if !r.shared {
				panel = r.memory(w, 4)
				r.transformWeights(weights, panel)
			}
			r.multiply(products, unsafe.Add(elements, k*planesOf(r.tiles*r.deep)), panel, tiles, n, r.channelsOf(weights), k)
		}
		sums := r.memory(w, 6)
		r.transformProducts(result, sums, products, down, along, n)
		if !vector.Finite(sums, ir.Float32, r.rows.Size(result)*n) {
			r.direct(w, sums, products, n)
		}
		r.after.run(result, sums)
	}
}

// transformImages loads an activation's block and transforms its tiles.
func (r *winogradRunner) transformImages(f *vector.Activation, to unsafe.Pointer, down, along int) {
	for i, c := range []slide{r.down, r.along} {
		at := f.At[c.position]
		if c.reversed {
			at -= tapSide - 1
		}
		f.MoveTo(c.axis, at, tileResults*[]int{down, along}[i]+tapSide-1)
	}
	f.Run()
	from, channels, size := f.Reg[r.windows.root], r.channelsOf(f), ir.Float32.Size()
	row := f.N[r.along.axis] * channels
	image := f.N[r.down.axis] * row
	images := 1
	for _, a := range r.rows.Axes[:len(r.rows.Axes)-2] {
		images *= f.N[a]
	}
	plane := planeOf(images * down * along * channels)
	for i := range images {
		for y := range down {
			line := unsafe.Add(from, (i*image+tileResults*y*row)*size)
			for x := range along {
				simd.Winograd.Input(to, unsafe.Add(line, tileResults*x*channels*size), channels, plane, row, channels)
				to = unsafe.Add(to, channels*size)
			}
		}
	}
}

// multiply computes the products of each element of tiles, or adds them. Elements stay in the second-level cache; weights may
// come from memory.
func (r *winogradRunner) multiply(to, elements, weights unsafe.Pointer, tiles, cols, channels, add int) {
	size := ir.Float32.Size()
	for i := range tileElements {
		m := multiplication{rows: tiles, cols: cols, depth: channels}
		m.result = panel{at: unsafe.Add(to, i*planeOf(tiles*cols)*size), row: cols}
		if add > 0 {
			m.add = m.result
		}
		m.left = panel{unsafe.Add(elements, i*planeOf(tiles*channels)*size), channels, 1}
		m.right = panel{unsafe.Add(weights, i*planeOf(channels*cols)*size), cols, 1}
		if i+1 < tileElements {
			n := cols * size
			p := uintptr(m.right.at) + uintptr(planeOf(channels*cols)*size)
			next := prefetch{p: p, bytes: n, stride: n, rows: channels, groups: 1, steps: m.microTiles(&r.product)}
			m.prefetchRight = next.inside(channels)
		}
		m.run(&r.product, size)
	}
}

// transformProducts computes the sums of a strip of rows.
func (r *winogradRunner) transformProducts(f *vector.Activation, sums, products unsafe.Pointer, down, along, n int) {
	height, width, size := f.N[r.down.position], f.N[r.along.position], ir.Float32.Size()
	images := r.rows.Size(f) / (height * width)
	spare := unsafe.Add(sums, r.rows.MaxPoints()*r.cols.MaxPoints()*size)
	plane := planeOf(images * down * along * n)
	for i := range images {
		for y := range down {
			for x := range along {
				to := unsafe.Add(sums, ((i*height+tileResults*y)*width+tileResults*x)*n*size)
				h, l := min(tileResults, height-tileResults*y), min(tileResults, width-tileResults*x)
				if h == tileResults && l == tileResults {
					simd.Winograd.Output(to, products, n, plane, width*n, n)
				} else {
					simd.Winograd.Output(spare, products, n, plane, tileResults*n, n)
					simd.Movers[size](to, spare, h, width*n, tileResults*n, l*n, 1, 1)
				}
				products = unsafe.Add(products, n*size)
			}
		}
	}
}

// direct computes the sums of a strip of rows and a block of columns by windows, in spare memory, and replaces those that are
// not finite: a choice for all of a strip would depend on the number of threads.
func (r *winogradRunner) direct(w *vector.Worker, sums, spare unsafe.Pointer, cols int) {
	images, weights := &w.Activations[0], &w.Activations[1]
	for k := range r.depth.Count {
		r.depth.MoveTo(images, k)
		r.depth.MoveTo(weights, k)
		m := multiplication{rows: r.rows.Size(images), cols: cols, depth: r.depth.Size(weights), result: panel{at: spare, row: cols}}
		if k > 0 {
			m.add = m.result
		}
		m.leftPanel = r.windows.read(images, w, 0, 0)
		weights.Run()
		m.right = panel{weights.Reg[r.weight], cols, 1}
		m.run(&r.product, ir.Float32.Size())
	}
	n := r.rows.Size(images) * cols
	exact := unsafe.Slice((*float32)(spare), n)
	for i, x := range unsafe.Slice((*float32)(sums), n) {
		if x-x != 0 {
			*(*float32)(unsafe.Add(sums, i*ir.Float32.Size())) = exact[i]
		}
	}
}
