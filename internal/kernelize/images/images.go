// Package images chooses the order in memory of images that convolutions pass to each other.
package images

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A Kernel is a kernel with the nodes of its arguments, nil for others than tensors.
type Kernel struct {
	*ir.Kernel
	Nodes []*graph.Node
}

// Order stores images, [batch channels positions…], with the channels innermost where that takes less time. The
// rows of a convolution's product are positions then and its columns channels, which a CPU stores, and reads as the next
// left factor, along rows. Results of the graph keep their order, and so do images that a kernel reads in another way.
// So does a GPU whose tiles of products take neighbours along the depth.
func Order(kernels []Kernel, results []*graph.Node, on ir.Machine) {
	if on.Columns == 0 && !on.DeepTiles {
		return
	}
	c := &chooser{columns: on.Columns, deep: on.DeepTiles, images: map[*graph.Node]*image{}}
	for i := range kernels {
		c.addLayer(&kernels[i])
	}
	for _, n := range results {
		if m := c.images[n]; m != nil {
			m.fixed = true
		}
	}
	c.choose()
	for _, m := range c.order {
		if m.last {
			for _, u := range m.uses {
				u.view.Off, u.view.Coef = u.off, u.coef
			}
		}
	}
}

// A chooser chooses the orders of images.
type chooser struct {
	columns int  // of a tile of products, in two registers
	deep    bool // tiles take neighbours along the depth
	images  map[*graph.Node]*image
	order   []*image
	layers  []*layer
}

// An image is a node that kernels store and load.
type image struct {
	batch, channels, positions int
	uses                       []imageUse
	layers                     []*layer
	fixed                      bool // it keeps its order
	last                       bool // its channels are innermost
}

// An imageUse is a load or store of an image, with its view once channels are innermost.
type imageUse struct {
	view *ir.View
	off  int
	coef []int
}

// A layer is a kernel that reads or stores images.
type layer struct {
	x, y, beside              *image // a factor, the first result, an operand of the work after the sum
	outputs, positions, depth int    // of a product; 0 for other layers
	windows                   bool   // the product's positions overlap: they are its rows in any order
	weights                   bool   // windows of each channel have weights of their own
	greatest                  bool   // results are the greatest elements of windows of each channel
}

// choose sets image.last by a local search, from all images that may have channels innermost, and from none.
func (c *chooser) choose() {
	chooses := func(l *layer) bool { return l.outputs > 0 || l.greatest }
	for _, m := range c.order {
		m.fixed = m.fixed || len(m.uses) < 2 || !slices.ContainsFunc(m.layers, chooses)
		m.last = !m.fixed
	}
	c.improve()
	all, first := c.cost(c.layers), c.orders()
	for _, m := range c.order {
		m.last = false
	}
	c.improve()
	if c.cost(c.layers) < all {
		return
	}
	for i, m := range c.order {
		m.last = first[i]
	}
}

// orders lists image.last.
func (c *chooser) orders() (list []bool) {
	for _, m := range c.order {
		list = append(list, m.last)
	}
	return list
}

// improve changes the orders of single images, and of all images of a layer, as long as that takes less time.
func (c *chooser) improve() {
	for changed := true; changed; {
		changed = false
		for _, m := range c.order {
			changed = c.try(!m.last, m) || changed
		}
		for _, l := range c.layers {
			for _, last := range []bool{false, true} {
				changed = c.try(last, l.x, l.y, l.beside) || changed
			}
		}
	}
}

// try changes the orders of images if that takes less time.
func (c *chooser) try(last bool, images ...*image) bool {
	var change []*image
	var layers []*layer
	for _, m := range images {
		if m != nil && !m.fixed && m.last != last && !slices.Contains(change, m) {
			change = append(change, m)
			for _, l := range m.layers {
				if !slices.Contains(layers, l) {
					layers = append(layers, l)
				}
			}
		}
	}
	before := c.cost(layers)
	for _, m := range change {
		m.last = last
	}
	if c.cost(layers) < before {
		return true
	}
	for _, m := range change {
		m.last = !last
	}
	return false
}

// Costs of moving an element in operations on registers: storing it across the rows of a tile, copying it so, and
// reading it with a cache line of others that come later.
const (
	storeAcross = 1
	copyAcross  = 2
	readAcross  = 16
)

// cost estimates the work of layers that depends on the orders of their images, in operations on registers.
func (c *chooser) cost(layers []*layer) (sum float64) {
	for _, l := range layers {
		x, y := l.x.isLast(), l.y.isLast()
		if l.beside != nil && l.beside.isLast() != y {
			sum += storeAcross * l.beside.elements()
		}
		switch m := l.y; {
		case l.outputs > 0:
		case l.greatest: // all channels of some positions, or all positions of some channels, at once
			if x != y {
				sum += readAcross * max(l.x.elements(), m.elements())
			}
			continue
		case l.weights: // channels that lie beside each other are summed as they are
			sum += copyAcross*l.x.firsts() + storeAcross*l.y.firsts()
			continue
		case m != nil && l.x != nil && x != y:
			sum += storeAcross * m.elements()
			continue
		default:
			continue
		}
		images, positions := 1, l.positions
		if l.y != nil { // tiles of columns end with an image
			images, positions = l.y.batch, l.y.positions
		}
		if c.deep {
			sum += c.deepCost(l)
			continue
		}
		points := float64(images * positions)
		store := storeAcross * float64(l.outputs) * points
		rows := c.multiplications(images*positions, l.outputs, l.depth)
		turned := c.multiplications(images*l.outputs, positions, l.depth)
		switch {
		case y:
			sum += rows
		case l.windows:
			sum += rows + store
		case x:
			sum += min(rows+store, turned+copyAcross*points*float64(l.depth))
		default:
			sum += min(rows+store, turned)
		}
	}
	return sum
}

// deepCost estimates the loads of a product whose image does not have channels innermost, if tiles take neighbours along the
// depth. Windows of such an image are taken element by element.
func (c *chooser) deepCost(l *layer) float64 {
	switch {
	case l.x.isLast():
		return 0
	case l.windows:
		return readAcross * l.x.elements()
	}
	return copyAcross * l.x.elements()
}

// multiplications is the number of multiplications of registers in a product. Tiles with one register of a row multiply
// two thirds as fast.
func (c *chooser) multiplications(rows, cols, depth int) float64 {
	n := 2 * float64(cols/c.columns)
	switch rest := cols % c.columns; {
	case rest > c.columns/2:
		n += 2
	case rest > 0:
		n += 1.5
	}
	return n * float64(rows) * float64(depth)
}

// firsts is the number of elements of an image whose channels are not innermost.
func (m *image) firsts() float64 {
	if m.isLast() {
		return 0
	}
	return m.elements()
}

func (m *image) elements() float64 {
	if m == nil {
		return 0
	}
	return float64(m.batch * m.channels * m.positions)
}

// isLast reports whether there is an image with channels innermost.
func (m *image) isLast() bool { return m != nil && m.last }

// imageOf returns the image of a node, or nil.
func (c *chooser) imageOf(n *graph.Node) *image {
	if n == nil || n.Op == ir.Buffer || len(n.Shape) <= 2 {
		return nil
	}
	m := c.images[n]
	if m == nil {
		m = &image{batch: n.Shape[0], channels: n.Shape[1], positions: graph.Len(n.Shape[2:])}
		m.fixed = m.channels < 2 || m.positions < 2 || n.Shape[0] == 0 || c.deep && m.channels%4 != 0
		c.images[n], c.order = m, append(c.order, m)
	}
	return m
}

// addLayer adds a kernel.
func (c *chooser) addLayer(k *Kernel) {
	l := &layer{}
	c.layers = append(c.layers, l)
	deep := k.Roles(ir.K, ir.Reduced)
	for _, n := range k.Nodes {
		if m := c.imageOf(n); m != nil {
			m.layers = append(m.layers, l)
			if k.Template != ir.Contraction && k.Template != ir.Reduce {
				m.fixed = true
			}
		}
	}
	for i := range k.Body {
		in := &k.Body[i]
		if in.Op != ir.Load && !in.Op.Writes() {
			continue
		}
		m := c.imageOf(k.Nodes[in.Arg])
		if m == nil {
			continue
		}
		channels, ok := m.addUse(k, in)
		switch {
		case !ok:
			m.fixed = true
		case in.Op == ir.Store && l.y == nil:
			l.y = m
		case in.Domain&deep != 0:
			l.x = m
		default:
			l.beside = m
		}
		if ok && k.Template == ir.Contraction {
			ok = l.multiplies(k.Kernel, in, channels, c.deep)
		} else if ok {
			ok = l.slides(k.Kernel, in, channels, m)
		}
		m.fixed = m.fixed || !ok
	}
}

// addUse adds an instruction of a kernel, and returns the axes of channels.
func (m *image) addUse(k *Kernel, in *ir.Instr) (channels ir.AxisSet, ok bool) {
	arg := &k.Args[in.Arg]
	stores := in.Op == ir.Store && !arg.Part && len(in.View.Guards) == 0
	if m.fixed || arg.Undefined || !stores && (in.Op != ir.Load || len(in.Src) > 0) {
		return 0, false
	}
	u := imageUse{view: in.View}
	channels, ok = m.split(&u, k.Axes)
	m.uses = append(m.uses, u)
	return channels, ok && channels != 0
}

// split sets the new offset and coefficients of a view, and returns the axes of channels. ok is false if an axis is of
// several parts, or if a sum of positions may leave its part.
func (m *image) split(u *imageUse, axes []ir.Axis) (channels ir.AxisSet, ok bool) {
	n := m.channels * m.positions
	u.coef = slices.Clone(u.view.Coef)
	positions := make([]int, len(axes)) // coefficients of positions
	reach := 0                          // of the channels
	for a, c := range u.view.Coef {
		switch {
		case c < 0 || c > m.positions && c%m.positions != 0:
			return 0, false
		case c == 0 || axes[a].Len == 1:
			u.coef[a] = 0
		case c%n == 0:
		case c%m.positions == 0:
			channels |= ir.Axes(a)
			reach += c / m.positions * (axes[a].Len - 1)
			u.coef[a] = c / m.positions
		default:
			positions[a] = c
			u.coef[a] = c * m.channels
		}
	}
	low, high, ok := boundsOf(u.view.Guards, positions, axes)
	if !ok {
		return 0, false
	}
	whole := floorDiv(u.view.Off+low, m.positions)
	first := u.view.Off - whole*m.positions
	channel := whole - floorDiv(whole, m.channels)*m.channels
	u.off = (whole-channel)*m.positions + first*m.channels + channel
	return channels, first+high < m.positions && channel+reach < m.channels
}

// boundsOf returns the bounds of a sum over axes at points where guards hold. It changes coef. ok is false if a guard
// moves the position.
func boundsOf(guards []ir.Guard, coef []int, axes []ir.Axis) (low, high int, ok bool) {
	for _, g := range guards {
		if g.Stride != 0 {
			return 0, 0, false
		}
		times := timesOf(coef, g.Coef)
		if g.Div != 1 || times <= 0 {
			continue
		}
		for a, c := range g.Coef {
			coef[a] -= times * c
		}
		low, high = low-times*g.Off, high+times*(g.Len-1-g.Off)
	}
	for a, c := range coef {
		if c < 0 {
			return 0, 0, false
		}
		high += c * (axes[a].Len - 1)
	}
	return low, high, true
}

// timesOf returns a factor: x has the coefficients of y times the factor, where y has any. It is 0 if none is positive.
func timesOf(x, y []int) int {
	times := 0
	for a, c := range y {
		switch {
		case c == 0:
		case c < 0 || x[a]%c != 0 || times > 0 && x[a]/c != times:
			return 0
		default:
			times = x[a] / c
		}
	}
	return times
}

func floorDiv(x, y int) int {
	q := x / y
	if x < q*y {
		q--
	}
	return q
}
