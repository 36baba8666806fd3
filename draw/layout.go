package draw

import (
	"cmp"
	"slices"
)

// A vertex is a box with lines of text, and where it lies.
type vertex struct {
	lines  []string
	color  string
	bold   bool  // a result
	inputs []int // vertices before it
	w      float64
}

// A layout is a graph whose edges lead from each layer to the next: longer ones are cut by
// vertices without text, the bends.
type layout struct {
	nodes  []node
	layers [][]int
	edges  [][]int // paths: a vertex, bends, a vertex
}

type node struct {
	layer    int
	w, x     float64
	up, down []int
	place    float64 // in its layer, while layers are ordered
}

const (
	gapX, gapY = 18.0, 34.0
	bendWidth  = 4.0
	sweeps     = 12
)

// arrange places vertices, in whose inputs an edge back is left out.
func arrange(vs []vertex) *layout {
	l := &layout{nodes: make([]node, len(vs))}
	for i, v := range vs {
		l.nodes[i].w = v.w
		for _, s := range v.inputs {
			if s < i {
				l.nodes[i].layer = max(l.nodes[i].layer, l.nodes[s].layer+1)
			}
		}
	}
	l.lowerSources(vs)
	for i, v := range vs {
		for _, s := range v.inputs {
			if s < i {
				l.connect(s, i)
			}
		}
	}
	for i, n := range l.nodes {
		for len(l.layers) <= n.layer {
			l.layers = append(l.layers, nil)
		}
		l.layers[n.layer] = append(l.layers[n.layer], i)
	}
	l.order()
	l.place()
	return l
}

// lowerSources moves vertices without inputs next to the first that uses them.
func (l *layout) lowerSources(vs []vertex) {
	first := make([]int, len(vs))
	for i, v := range vs {
		for _, s := range v.inputs {
			if at := l.nodes[i].layer; s < i && (first[s] == 0 || at < first[s]) {
				first[s] = at
			}
		}
	}
	for i, v := range vs {
		if len(v.inputs) == 0 && first[i] > 0 {
			l.nodes[i].layer = first[i] - 1
		}
	}
}

// connect adds an edge, and bends in the layers between.
func (l *layout) connect(from, to int) {
	path := []int{from}
	for at := l.nodes[from].layer + 1; at < l.nodes[to].layer; at++ {
		l.nodes = append(l.nodes, node{layer: at, w: bendWidth})
		path = append(path, len(l.nodes)-1)
	}
	path = append(path, to)
	for i, n := range path[1:] {
		l.nodes[path[i]].down = append(l.nodes[path[i]].down, n)
		l.nodes[n].up = append(l.nodes[n].up, path[i])
	}
	l.edges = append(l.edges, path)
}

// order orders layers so that few edges cross: each node goes to the mean place of those that
// it is connected to, downwards and upwards in turn.
func (l *layout) order() {
	number := func(layer []int) {
		for i, n := range layer {
			l.nodes[n].place = float64(i)
		}
	}
	for _, layer := range l.layers {
		number(layer)
	}
	best, fewest := l.clone(), l.crossings()
	for turn := range sweeps {
		layers, side := l.layers, func(n node) []int { return n.up }
		if turn%2 == 1 {
			layers, side = slices.Clone(layers), func(n node) []int { return n.down }
			slices.Reverse(layers)
		}
		for _, layer := range layers {
			mean := make(map[int]float64, len(layer))
			for _, n := range layer {
				mean[n] = l.nodes[n].place
				if near := side(l.nodes[n]); len(near) > 0 {
					mean[n] = 0
					for _, m := range near {
						mean[n] += l.nodes[m].place / float64(len(near))
					}
				}
			}
			slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
			number(layer)
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.clone(), n
		}
	}
	l.layers = best
	for _, layer := range l.layers {
		number(layer)
	}
}

func (l *layout) clone() [][]int {
	out := make([][]int, len(l.layers))
	for i, layer := range l.layers {
		out[i] = slices.Clone(layer)
	}
	return out
}

// crossings counts pairs of edges that cross.
func (l *layout) crossings() int {
	total := 0
	for _, layer := range l.layers {
		var ends []float64 // of edges downwards, in the order of their starts
		for _, n := range layer {
			from := len(ends)
			for _, m := range l.nodes[n].down {
				ends = append(ends, l.nodes[m].place)
			}
			slices.Sort(ends[from:])
		}
		sorted := ends[:0:0]
		for _, e := range ends { // inversions, by insertion
			i, _ := slices.BinarySearchFunc(sorted, e, func(a, b float64) int {
				if a <= b {
					return -1
				}
				return 1
			})
			total += len(sorted) - i
			sorted = slices.Insert(sorted, i, e)
		}
	}
	return total
}

// place sets x of nodes: near the mean of those that they are connected to, in the order and
// with the gaps of their layer.
func (l *layout) place() {
	for _, layer := range l.layers {
		x := 0.0
		for _, n := range layer {
			l.nodes[n].x = x + l.nodes[n].w/2
			x += l.nodes[n].w + gapX
		}
	}
	for turn := range 2 * sweeps {
		for i := range l.layers {
			layer, up := l.layers[i], turn%2 == 1
			if up {
				layer = l.layers[len(l.layers)-1-i]
			}
			l.align(layer, up)
		}
	}
	left := 0.0
	for _, n := range l.nodes {
		left = min(left, n.x-n.w/2)
	}
	for i := range l.nodes {
		l.nodes[i].x -= left
	}
}

// align moves the nodes of a layer to where they want to be. Nodes that would overlap form a
// block, which goes to the mean of their wishes.
func (l *layout) align(layer []int, up bool) {
	type block struct {
		first, last int
		wish        float64 // of its first node's middle
		weight      float64
	}
	offset := make([]float64, len(layer)) // of a node's middle in the layer, without gaps
	var blocks []block
	for i, n := range layer {
		x := l.nodes[n]
		if i > 0 {
			offset[i] = offset[i-1] + (l.nodes[layer[i-1]].w+x.w)/2 + gapX
		}
		near := x.up
		if up {
			near = x.down
		}
		wish, weight := x.x, 0.1
		if len(near) > 0 {
			wish, weight = 0, float64(len(near))
			for _, m := range near {
				wish += l.nodes[m].x / float64(len(near))
			}
			if x.w == bendWidth {
				weight *= 4 // long edges are straight
			}
		}
		b := block{i, i, wish - offset[i], weight}
		for len(blocks) > 0 && blocks[len(blocks)-1].wish > b.wish {
			a := blocks[len(blocks)-1]
			b = block{a.first, b.last, (a.wish*a.weight + b.wish*b.weight) / (a.weight + b.weight), a.weight + b.weight}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		for i := b.first; i <= b.last; i++ {
			l.nodes[layer[i]].x = b.wish + offset[i]
		}
	}
}
