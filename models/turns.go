package models

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/models/sample"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// Turns are texts that a [Generator] writes.
type turns interface {
	next(left int) ([]Choice, error) // the next token of each text, of at most left
	held() text                      // the tokens of the first text that the cache has
}

// A state is the state of texts whose tokens are chosen on the device: a step takes and returns it.
type state struct {
	IDs      tensor.Tensor // the last token of each text, [batch 1]; any where Chosen is an error
	Chosen   tensor.Tensor // the same, checked
	Cache    Cache
	Sampling Sampling
	RNG      *tensor.RNG
}

// deviceTurns choose tokens where the logits are.
type deviceTurns struct {
	state
	step  func(state) state
	first []int32 // the first text, with its prompt
	len   int     // the positions held
	ready bool    // IDs are not yet yielded
	again bool    // the step has run
	err   error   // of the step after IDs
}

func (g *Generator) onDevice(prompts [][]int32, logits tensor.Tensor, c Cache, n int) (turns, error) {
	if g.step == nil {
		g.step = grad.Jit(func(s state) state {
			x, cache := g.Model.Decode(s.IDs, s.Cache)
			logits := g.Model.Logits(x).Squeeze(1)
			finite := logits.Max(-1).IsFinite() // where not, the step after has no error, so that explain can read its cache
			s.IDs, s.Cache = s.Sampling.Choose(tensor.Where(finite, logits, 0), s.RNG).Unsqueeze(-1), cache
			s.Chosen = tensor.Internal.Checked(graph.Token{}, sample.Choosing, s.IDs, finite, "the greatest of the logits", "is NaN or infinite")
			return s
		})
	}
	d := &deviceTurns{step: g.step, first: slices.Clone(prompts[0]), len: n, ready: true}
	ids := g.Sampling.Choose(logits, g.RNG).Unsqueeze(-1)
	d.state = state{ids, ids, c.OnDevice(), g.Sampling, g.RNG}
	return d, tensor.Eval(d.state)
}

func (d *deviceTurns) held() text { return text{d.first[:min(d.len, len(d.first))], d.Cache} }

// next starts the step after the next while it reads the tokens of the next, once the step is recorded.
func (d *deviceTurns) next(left int) (choices []Choice, err error) {
	defer tensor.Catch(&err)
	advance := func() {
		d.Cache = d.Cache.with(d.len + 1)
		d.state, d.len, d.again = d.step(d.state), d.len+1, true
	}
	switch {
	case d.err != nil:
		return nil, d.err
	case !d.ready:
		advance()
	}
	read, goesOn := tensor.Internal.Ahead(graph.Token{}, d.Chosen)
	if d.ready = goesOn && d.again && left > 1; d.ready {
		d.err = tensor.Try(advance) // the tokens before it are there
	}
	tokens, err := read()
	for _, t := range tokens {
		choices = append(choices, Choice{ID: t})
	}
	if err == nil {
		d.first = append(d.first, tokens[0])
	}
	return choices, err
}

// with returns the cache with a capacity of some positions at least.
func (c Cache) with(positions int) Cache {
	if positions <= c.Capacity() {
		return c
	}
	next := c.Resize(capacity(positions))
	tree.Donate(c.elements())
	if err := tensor.Eval(next.elements()); err != nil {
		panic(err) // a *tensor.DeviceError
	}
	return next
}

// giveBack gives the memory beside a cache on the CPU that a long prompt took, or two recorded steps, back to the system.
func (c Cache) giveBack() error {
	if d := c.K[0].Device(); d != nil && d != tensor.CPU() {
		return nil
	}
	hostmem.Collect() // returns the memory of dead tensors to the pool
	defer hostmem.GiveBack()
	return tensor.CPU().Close() // empties it
}

// back returns a cache on the device with its first positions only.
func (c Cache) back(positions int) Cache {
	c.Len, c.Pos = positions, tensor.Tensor{}
	return c.OnDevice()
}

// A reading is tokens before a step, and logits after it.
type reading struct {
	IDs, Logits tensor.Tensor `tensor:",optional"` // [batch time], [batch time vocabulary]
	Cache       Cache
}

// recordRead returns a function that reads tokens.
func recordRead(m Decoder) func(reading) reading {
	return grad.Jit(func(r reading) reading {
		x, cache := m.Decode(r.IDs, r.Cache)
		return reading{Logits: m.Logits(x).Cast(tensor.Float32), Cache: cache}
	})
}

// A reader reads tokens into a cache.
type reader struct {
	step  func(reading) reading
	cache Cache
	len   int // the positions held
}

// read returns the logits of each text after each of its tokens.
func (r *reader) read(texts [][]int32) ([][][]float32, error) {
	n := len(texts[0])
	next := r.step(reading{IDs: tensor.New(slices.Concat(texts...), len(texts), n), Cache: r.cache.with(r.len + n)})
	r.cache, r.len = next.Cache, r.len+n
	return rows(next.Logits)
}

// rewind forgets all but the first n positions.
func (r *reader) rewind(n int) {
	if n < r.len {
		r.len, r.cache = n, r.cache.back(n)
	}
}

// rows returns logits [batch time vocabulary] on the host.
func rows(logits tensor.Tensor) ([][][]float32, error) {
	all, err := tensor.Data[float32](logits)
	if err != nil {
		return nil, err
	}
	texts := make([][][]float32, logits.Dim(0))
	for i := range texts {
		for range logits.Dim(1) {
			texts[i] = append(texts[i], all[:logits.Dim(2)])
			all = all[logits.Dim(2):]
		}
	}
	return texts, nil
}

// hostTurns choose tokens on the host.
type hostTurns struct {
	reader
	texts    [][]int32 // with the prompts
	samplers []*sample.Sampler
	ready    [][][]float32 // the logits after the prompts, until the first turn
	logProbs int
}

func (g *Generator) onHost(prompts [][]int32, logits tensor.Tensor, c Cache, n int) (turns, error) {
	if g.read == nil {
		g.read = recordRead(g.Model)
	}
	h := &hostTurns{reader: reader{g.read, c.OnDevice(), n}, logProbs: g.LogProbs}
	logits = logits.Cast(tensor.Float32).Unsqueeze(1).Keep()
	if err := tensor.Eval(logits, h.cache); err != nil {
		return nil, err
	}
	var err error
	if h.ready, err = rows(logits); err != nil {
		return nil, err
	}
	for _, p := range prompts {
		s, err := g.sampler()
		if err != nil {
			return nil, err
		}
		h.texts, h.samplers = append(h.texts, slices.Clone(p)), append(h.samplers, s)
	}
	if g.speculates() {
		return g.speculate(h)
	}
	return h, nil
}

// sampler returns one with draws of its own.
func (g *Generator) sampler() (*sample.Sampler, error) {
	seed := []int32{0, 0}
	if g.RNG != nil {
		var err error
		if seed, err = tensor.Data[int32](g.RNG.Ints(math.MaxInt32, 2)); err != nil {
			return nil, err
		}
	}
	return sample.New(g.Sampling, uint64(seed[0])<<32|uint64(seed[1]))
}

func (h *hostTurns) held() text { return text{h.texts[0][:min(h.len, len(h.texts[0]))], h.cache} }

func (h *hostTurns) next(int) (choices []Choice, err error) {
	defer tensor.Catch(&err)
	logits := h.ready
	if h.ready = nil; logits == nil {
		var last [][]int32
		for _, t := range h.texts {
			last = append(last, t[len(t)-1:])
		}
		if logits, err = h.read(last); err != nil {
			return nil, err
		}
	}
	for i, s := range h.samplers {
		candidates, err := s.Distribution(logits[i][0], h.texts[i])
		if err != nil {
			return nil, err
		}
		choices = append(choices, h.choose(i, s.Pick(candidates), logits[i][0]))
	}
	return choices, nil
}

// choose adds a token to text i.
func (h *hostTurns) choose(i int, id int32, logits []float32) Choice {
	h.texts[i] = append(h.texts[i], id)
	c := Choice{ID: id}
	if h.logProbs > 0 {
		c.LogProb, c.Top = sample.LogProbs(logits, id, h.logProbs)
	}
	return c
}
