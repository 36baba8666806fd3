package models

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A Cache has the keys and values of all layers of a decoder, see [nn.KVCache]. It is a
// value: each step returns the next.
type Cache struct {
	K, V           []tensor.Tensor // of each layer, [batch heads capacity width]
	KScale, VScale []tensor.Tensor // see [nn.KVCache]; empty without scales
	// Pads has the number of positions before each text of a batch that do not count, [batch
	// 1], int32: texts of different lengths end together. Absent: none.
	Pads tensor.Tensor `tensor:",optional"`
	Len  int           // the positions held
	Pos  tensor.Tensor `tensor:",optional"` // Len as a tensor, see [Cache.OnDevice]
}

// newCache returns an empty cache of layers; of returns the cache of one, and a weight of it. Next to weights in
// blocks on the CPU, which have fewer bits, keys and values are float16: each step reads all of them. Otherwise they
// have the type of the first ones.
func newCache[L any](layers []L, of func(L) (nn.KVCache, tensor.Tensor)) Cache {
	if len(layers) == 0 {
		fail("NewCache", "the model has no layers")
	}
	l, weight := of(layers[0])
	d := weight.Device()
	if (d == nil || d == tensor.CPU()) && storage.Of(tensor.Internal.Node(graph.Token{}, weight).Value()).InBlocks() {
		l.K, l.V = l.K.Cast(tensor.Float16), l.V.Cast(tensor.Float16)
	}
	return Cache{K: slices.Repeat([]tensor.Tensor{l.K}, len(layers)), V: slices.Repeat([]tensor.Tensor{l.V}, len(layers))}
}

// Capacity returns the number of positions that the cache has room for.
func (c Cache) Capacity() int {
	if len(c.K) == 0 {
		return 0
	}
	return c.K[0].Dim(2)
}

// Layer returns the cache of a layer.
func (c Cache) Layer(i int) nn.KVCache {
	if i < 0 || i >= min(len(c.K), len(c.V)) {
		fail("Cache", fmt.Sprintf("there is no layer %d: the cache has keys of %d layers and values of %d", i, len(c.K), len(c.V)))
	}
	l := nn.KVCache{K: c.K[i], V: c.V[i], Len: c.Len, Pos: c.Pos}
	if len(c.KScale) > 0 {
		l.KScale, l.VScale = c.KScale[i], c.VScale[i]
	}
	if c.Pads.IsValid() {
		l.Valid = tensor.Arange(c.Capacity()).Ge(c.Pads)
	}
	return l
}

// each returns the cache with f of each layer's.
func (c Cache) each(f func(nn.KVCache) nn.KVCache) Cache {
	next := Cache{Pads: c.Pads}
	for i := range c.K {
		l := f(c.Layer(i))
		next.K, next.V = append(next.K, l.K), append(next.V, l.V)
		if l.KScale.IsValid() {
			next.KScale, next.VScale = append(next.KScale, l.KScale), append(next.VScale, l.VScale)
		}
		next.Len, next.Pos = l.Len, l.Pos
	}
	return next
}

// As returns an empty cache that stores keys and values in a type: see [nn.KVCache.As].
func (c Cache) As(t nn.CacheType) Cache {
	return c.each(func(l nn.KVCache) nn.KVCache { return l.As(t) })
}

// elements lists the tensors of all layers.
func (c Cache) elements() [][]tensor.Tensor {
	return [][]tensor.Tensor{c.K, c.V, c.KScale, c.VScale}
}

// Resize returns the cache with another capacity, of at least the positions held: see
// [nn.KVCache.Resize].
func (c Cache) Resize(length int) Cache {
	return c.each(func(l nn.KVCache) nn.KVCache { return l.Resize(length) })
}

// repeat returns the cache with n times each text.
func (c Cache) repeat(n int) Cache {
	c = c.each(func(l nn.KVCache) nn.KVCache {
		for _, t := range []*tensor.Tensor{&l.K, &l.V, &l.KScale, &l.VScale} {
			if t.IsValid() {
				*t = t.Repeat(0, n).Keep()
			}
		}
		return l
	})
	if c.Pads.IsValid() {
		c.Pads = c.Pads.Repeat(0, n).Keep()
	}
	return c
}

// OnDevice returns the cache with Pos in place of Len, for functions that are recorded once: see
// [nn.KVCache.OnDevice].
func (c Cache) OnDevice() Cache {
	pos := c.Layer(0).OnDevice()
	c.Len, c.Pos = pos.Len, pos.Pos
	return c
}

// A pass is one run of the layers of a decoder.
type pass struct {
	cache     *Cache // nil: positions are from 0, and nothing is kept
	next      Cache
	allocated bool // the memory of an empty cache
}

func newPass(c *Cache) *pass {
	p := &pass{cache: c}
	if c != nil {
		p.next = c.each(func(l nn.KVCache) nn.KVCache { return l })
	}
	return p
}

// start returns the position of the first token.
func (p *pass) start() tensor.Operand {
	if p.cache == nil {
		return 0
	}
	return p.cache.Layer(0).Position()
}

// positions returns the positions of tokens in their texts, [time] or [batch time].
func (p *pass) positions(time int) tensor.Tensor {
	at := tensor.Arange(time).Add(p.start())
	if p.cache != nil && p.cache.Pads.IsValid() {
		at = at.Sub(p.cache.Pads).Maximum(0)
	}
	return at
}

// step gives the cache of layer i to f, which returns the next.
func (p *pass) step(i int, f func(nn.KVCache) (tensor.Tensor, nn.KVCache)) tensor.Tensor {
	y, l := f(p.cache.Layer(i))
	p.next.K[i], p.next.V[i], p.next.Len, p.next.Pos = l.K, l.V, l.Len, l.Pos
	if l.KScale.IsValid() {
		p.next.KScale[i], p.next.VScale[i] = l.KScale, l.VScale
	}
	return y
}

// allocate stores the zeros of an empty cache on x's device, of x's type unless they have one. A layer would do it
// too, each for itself.
func (p *pass) allocate(x tensor.Tensor) {
	c := p.cache
	if c.Len != 0 || c.Pos.IsValid() || p.allocated {
		return
	}
	p.allocated = true
	zeros := func(list []tensor.Tensor) []tensor.Tensor {
		list = slices.Clone(list)
		for i, t := range list {
			d := x.DType()
			if n := tensor.Internal.Node(graph.Token{}, t); !n.IsUntyped() {
				d = t.DType()
			}
			list[i] = tensor.Full(0, t.Shape()...).Cast(d)
			if d := x.Device(); d != nil {
				list[i] = list[i].To(d)
			}
		}
		return list
	}
	next := *c
	next.K, next.V, next.KScale, next.VScale = zeros(c.K), zeros(c.V), zeros(c.KScale), zeros(c.VScale)
	if err := tensor.Eval(next.elements()); err != nil {
		panic(err) // a *tensor.DeviceError
	}
	p.cache = &next
}

// attend lets x attend to itself and to all earlier positions, by layer i.
func (p *pass) attend(i int, a nn.Attention, x, mask tensor.Tensor) tensor.Tensor {
	if p.cache == nil {
		return a.Attend(x, tensor.Tensor{}, mask, nil)
	}
	p.allocate(x)
	return p.step(i, func(c nn.KVCache) (tensor.Tensor, nn.KVCache) { return a.DecodeMasked(x, mask, c) })
}
