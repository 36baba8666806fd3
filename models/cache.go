package models

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
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
	if i < min(len(c.KScale), len(c.VScale)) {
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
		next.add(f(c.Layer(i)))
	}
	return next
}

// add adds a layer.
func (c *Cache) add(l nn.KVCache) {
	c.K, c.V, c.Len, c.Pos = append(c.K, l.K), append(c.V, l.V), l.Len, l.Pos
	if l.KScale.IsValid() {
		c.KScale, c.VScale = append(c.KScale, l.KScale), append(c.VScale, l.VScale)
	}
}

// As returns an empty cache that stores keys and values in a type: see [nn.KVCache.As].
func (c Cache) As(t nn.CacheType) Cache {
	return c.each(func(l nn.KVCache) nn.KVCache { return l.As(t) })
}

// elements returns keys and values alone.
func (c Cache) elements() Cache { return Cache{K: c.K, V: c.V, KScale: c.KScale, VScale: c.VScale} }

// Resize returns the cache with another capacity, of at least the positions held: see
// [nn.KVCache.Resize].
func (c Cache) Resize(length int) Cache {
	return c.each(func(l nn.KVCache) nn.KVCache { return l.Resize(length) })
}

// repeat returns the cache with n times each text.
func (c Cache) repeat(n int) Cache {
	pos := c.Pos
	c.Pos = tensor.Tensor{}
	c = tree.Map(c, func(_ string, t tensor.Tensor) tensor.Tensor { return t.Repeat(0, n).Keep() })
	c.Pos = pos
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

func newPass(c *Cache) *pass { return &pass{cache: c} }

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

// step gives the cache of layer i, the next in order, to f, which returns the next cache.
func (p *pass) step(i int, f func(nn.KVCache) (tensor.Tensor, nn.KVCache)) tensor.Tensor {
	y, l := f(p.cache.Layer(i))
	p.next.Pads = p.cache.Pads
	p.next.add(l)
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
	zeros := tree.Map(c.elements(), func(_ string, t tensor.Tensor) tensor.Tensor {
		d := x.DType()
		if n := tensor.Internal.Node(graph.Token{}, t); !n.IsUntyped() {
			d = t.DType()
		}
		z := tensor.Full(0, t.Shape()...).Cast(d)
		if d := x.Device(); d != nil {
			z = z.To(d)
		}
		return z
	})
	if err := tensor.Eval(zeros); err != nil {
		panic(err) // a *tensor.DeviceError
	}
	zeros.Pads = c.Pads
	p.cache = &zeros
}

// layersAhead is the number of layers that a device begins to compute at once, while the host makes the next ones. They are
// one plan for all such layers of a model, so that a prompt of a new length is compiled sooner, too.
const layersAhead = 4

// begin begins to compute x, the result of a layer for a prompt, on a device beside the host.
func (p *pass) begin(x tensor.Tensor) {
	n := tensor.Internal.Node(graph.Token{}, x)
	if of, _ := n.PlaceholdersOf(); of != "" || n.Traced() || p.cache == nil || p.cache.Pos.IsValid() {
		return
	}
	if d := x.Device(); d != nil && d != tensor.CPU() {
		if err := tensor.Eval(x); err != nil {
			panic(err) // a *tensor.DeviceError
		}
	}
}

// attend lets x attend to itself and to all earlier positions, by layer i.
func (p *pass) attend(i int, a nn.Attention, x, mask tensor.Tensor) tensor.Tensor {
	if p.cache == nil {
		return a.Attend(x, tensor.Tensor{}, mask, nil)
	}
	p.allocate(x)
	return p.step(i, func(c nn.KVCache) (tensor.Tensor, nn.KVCache) { return a.DecodeMasked(x, mask, c) })
}
