package main

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/tensorken/tensorken/examples/internal/gpt"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A modelSize is a size that the page offers by name.
type modelSize struct{ layers, width, heads, length, batch int }

var sizes = map[string]modelSize{
	"small":  {2, 48, 4, 48, 8},
	"medium": {3, 96, 6, 64, 12},
	"large":  {4, 128, 8, 128, 16},
}

// A window is the tokens X, int32 [batch length], and Y, the token after each.
type window struct{ X, Y tensor.Tensor }

// A run trains a model on one device.
type run struct {
	text, size string
	modelSize
	vocabulary gpt.Vocabulary
	ids        []int32

	device *tensor.Device
	rng    *rand.Rand  // of the windows
	draws  *tensor.RNG // for written characters
	model  gpt.Model
	opt    *optim.Optimizer
	update func(*gpt.Model, window, *tensor.RNG) (tensor.Tensor, error)
	step   int
	loss   tensor.Tensor // of the last step on this device, absent before it
}

// newRun returns a run of a model with random weights, on the CPU.
func newRun(text, size string) (*run, error) {
	s, ok := sizes[size]
	if !ok {
		return nil, fmt.Errorf("there is no size %q", size)
	}
	v := gpt.NewVocabulary(text)
	ids, err := v.Encode(text)
	if err != nil {
		return nil, err
	}
	if len(ids) < 4*s.length {
		return nil, fmt.Errorf("the text has %d characters; a model of this size needs at least %d", len(ids), 4*s.length)
	}
	r := &run{
		text: text, size: size, modelSize: s, vocabulary: v, ids: ids, draws: tensor.NewRNG(1),
		model: gpt.New(tensor.NewRNG(1), gpt.Size{Vocabulary: len(v), Length: s.length, Layers: s.layers, Width: s.width, Heads: s.heads}),
		opt:   newOptimizer(),
	}
	return r.on(tensor.CPU()), nil
}

func newOptimizer() *optim.Optimizer {
	o := optim.New(optim.AdamW{Beta2: 0.99, WeightDecay: 0.1}, 2e-3)
	o.ClipNorm, o.Schedule = 1, optim.Warmup(50, func(int) float64 { return 1 })
	return o
}

// on returns the run with its tensors on a device.
func (r run) on(dev *tensor.Device) *run {
	r.device, r.model, r.opt.State.Slots = dev, tree.To(r.model, dev), tree.To(r.opt.State.Slots, dev)
	r.rng, r.loss = rand.New(rand.NewPCG(1, uint64(r.step))), tensor.Tensor{}
	r.update = optim.Jit(r.opt, func(m gpt.Model, w window, rng *tensor.RNG) (tensor.Tensor, gpt.Model) {
		return nn.CrossEntropy(m.Train(w.X, rng), w.Y).Mean(), m
	})
	return &r
}

// learn makes a training step. A GPU computes it later.
func (r *run) learn() (err error) {
	var x, y []int32
	for range r.batch {
		i := r.rng.IntN(len(r.ids) - r.length)
		x, y = append(x, r.ids[i:i+r.length]...), append(y, r.ids[i+1:i+1+r.length]...)
	}
	w := window{tensor.New(x, r.batch, r.length), tensor.New(y, r.batch, r.length)}
	if r.loss, err = r.update(&r.model, tree.To(w, r.device), nil); err == nil {
		r.step++
	}
	return err
}

func (r *run) tokensPerStep() int { return r.batch * r.length }

func (r *run) tokens() int { return len(r.ids) }

func (r *run) parameters() int { return tree.Size(r.model) }

// sum returns the sum of the parameters, which is not finite if one of them is not.
func (r *run) sum() float64 {
	total := tensor.Zeros()
	for _, p := range tree.All(r.model) {
		total = total.Add(p.Sum())
	}
	return total.Item()
}

// start is how samples begin: as the text does.
func (r *run) start() string { return r.vocabulary.Decode(r.ids[:1]) }

// A saved is a run with its tensors on the host.
type saved struct {
	run
	state optim.State
}

// save copies the model and the optimizer's state. It waits for the device.
func (r *run) save() (s *saved, err error) {
	defer tensor.Catch(&err)
	s = &saved{*r, r.opt.State}
	s.model, s.state.Slots = tree.Copy(tree.To(r.model, tensor.CPU())), tree.Copy(tree.To(r.opt.State.Slots, tensor.CPU()))
	return s, tensor.Eval(s.state)
}

// resume returns a run that continues from s on a device.
func (s *saved) resume(dev *tensor.Device) *run {
	r := s.run
	r.opt = newOptimizer()
	r.opt.State = s.state
	r.model, r.opt.State.Slots = tree.Copy(s.model), tree.Copy(s.state.Slots) // steps donate the tensors that they replace
	return r.on(dev)
}

// A writer writes characters one at a time. Call stop when it is no longer used: it holds the
// keys and values of the text so far.
type writer struct {
	prompt  string
	request *request // nil for a sample
	next    func() (string, bool)
	stop    func()
}

// write returns a writer of n characters that follow a prompt.
func (r *run) write(prompt string, s models.Sampling, n int) (*writer, error) {
	ids, err := r.vocabulary.Encode(prompt)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		prompt, ids = r.start(), r.ids[:1]
	}
	tokens, stop := iter.Pull(r.model.Write(ids, func(logits tensor.Tensor) tensor.Tensor {
		return s.Choose(logits, r.draws)
	}))
	next := func() (string, bool) {
		if n == 0 {
			return "", false
		}
		n--
		id, _ := tokens()
		return r.vocabulary.Decode([]int32{id}), true
	}
	return &writer{prompt: prompt, next: next, stop: stop}, nil
}
