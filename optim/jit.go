package optim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/jit"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Jit returns a function that makes a training step: it updates *m as [ValueAndGradAux] of
// loss and [Optimizer.Step] do, and returns the loss of the batch, computed. Loss returns m
// with its new state, such as the running means of batch norm.
//
// The second step on batches of one form is recorded. Later steps replay its plan: they do not
// run loss or make a graph, and take the host far less time. Loss runs once more before the
// first replay; if its graph has changed, the step is not replayed. Two batches have one form
// if their tensors have the same shapes, types, layouts and devices, and if everything else in
// them is equal, see [grad.Jit]. The same holds for two models.
//
// The learning rate and its schedule may change from step to step. Variables that loss or a
// rule reads outside of model, batch, rng and optimizer keep the values of the recorded step.
// While loss is recorded its tensors have no values, so it cannot branch on them: use Where.
//
// Each step runs a loss that cannot be recorded: one that makes different graphs from equal
// arguments, as it does if it draws from an RNG of its own, or whose model has an RNG in it, or a
// function that captures variables or something else that may change unseen.
//
// A step donates the tensors of *m and State that it replaces, if an earlier step made them: see
// [tensor.Donate]. Where it can, the new ones are in their memory. To keep the model of a step, keep
// a copy: tree.Copy(*m). The tensors of the first model stay; a program that does not read them
// again donates them before the first step, by tree.Donate(model), and needs less memory.
//
// With Parallel in o, the loss returned is the mean over the ranks. Their batches have the same shapes.
//
// The function is for one goroutine. It returns the errors of Step, and an error if the model
// that loss returns lacks a tensor of m. *m and State then stay as they were.
func Jit[M, B any](o *Optimizer, loss func(m M, b B, rng *tensor.RNG) (tensor.Tensor, M)) func(m *M, b B, rng *tensor.RNG) (tensor.Tensor, error) {
	checkGiven("Jit", o, loss == nil)
	s := &steps[M, B]{o: o, loss: loss}
	s.forget()
	return s.next
}

// forget drops the recorded steps, which belong to one group.
func (s *steps[M, B]) forget() {
	s.f = jit.Func[stepArgs[B], stepResults]{Op: "optim.Jit", F: s.trace, Keep: keepModel, OnSecondUse: true}
	s.group = s.o.Parallel
}

// keepModel says how to keep the tensors that a step replaces.
const keepModel = "keep a copy of the model before the step, which tree.Copy makes"

// A steps makes the steps of Jit.
type steps[M, B any] struct {
	o    *Optimizer
	loss func(m M, b B, rng *tensor.RNG) (tensor.Tensor, M)
	f    jit.Func[stepArgs[B], stepResults]

	group Ranks        // of the recorded steps
	forms []*modelForm // the last ones
	count int          // of all forms so far
	// Of the step that is being made:
	form   *modelForm
	model  *M
	rate   float64
	step   int
	memory stepMemory
}

// A stepMemory has lists of one step, whose memory the next one uses again.
type stepMemory struct {
	params  []pytree.Leaf[tensor.Tensor]
	list    []tensor.Tensor
	lengths []int
	slots   [][]tensor.Tensor
	like    []tensor.Tensor // the parameters, whole
}

// forget drops the tensors.
func (m *stepMemory) forget() {
	clear(m.params)
	clear(m.list)
	clear(m.slots)
	clear(m.like)
}

// A modelForm is models that differ in the elements of their tensors alone.
type modelForm struct {
	number int
	loose  bool // it has an RNG, which a trace would draw from, or may change unseen
	model  *pytree.Signature
	params []pytree.Leaf[tensor.Tensor] // without values
	slots  slotNames
}

// The stepArgs are the key of a recorded step. Numbers that change from step to step are
// not in it; the tensors, parameters and then their slots, are in the list of arguments.
type stepArgs[B any] struct {
	Model         int     // the number of its form
	Slots         []int   // how many each parameter has
	Shapes        [][]int // of the parameters of which the list has parts
	Batch         B
	RNG           *tensor.RNG
	Scale, Streak tensor.Tensor
	Rule          Rule
	Groups        Groups
	Rules         []Rule // of RuleFor, by parameter
	ClipNorm      float64
	Precision     tensor.DType
	Scaling       Scaling
	Sent          tensor.DType // ParallelPrecision
	ZeRO          int
	Masters       bool
}

// The stepResults are the results of a step but for the parameters and their slots, which
// are in lists.
type stepResults struct {
	Slots         string // how many each parameter has, as a character: it is not copied
	Scale, Streak tensor.Tensor
	Loss          tensor.Tensor
}

func (s *steps[M, B]) next(m *M, b B, rng *tensor.RNG) (tensor.Tensor, error) {
	o := s.o
	if m == nil {
		return tensor.Tensor{}, fmt.Errorf("optim: a step of a nil %T: want a pointer to the model", m)
	}
	if !o.State.Step.IsValid() { // the first step stores the state that later ones read
		loss, err := s.run(m, b, rng)
		if err == nil {
			s.note(m, b, rng)
		}
		return loss, err
	}
	if err := o.catchUp(); err != nil {
		return tensor.Tensor{}, err
	}
	if r := o.sharding(); r != nil && !o.isStateOurs() || o.owner != r {
		return s.run(m, b, rng)
	}
	if o.Parallel != s.group {
		s.forget()
	}
	args, ok, err := s.arguments(m, b, rng)
	switch {
	case err != nil:
		return tensor.Tensor{}, err
	case !ok:
		return s.run(m, b, rng)
	}
	defer s.memory.forget()
	if s.step, err = o.State.step(); err != nil {
		return tensor.Tensor{}, err
	}
	if s.rate, err = o.rate(s.step); err != nil {
		return tensor.Tensor{}, err
	}
	params, like := s.memory.params, s.memory.like
	r, lists, err := s.f.Call(args, s.memory.list, &o.journal)
	switch {
	case errors.Is(err, jit.ErrUnrecorded):
		return s.run(m, b, rng)
	case err != nil:
		return tensor.Tensor{}, err
	}
	for i, t := range lists[0] {
		params[i].Value = t
	}
	if err := pytree.Update(m, o.gathered(params, like, 0)); err != nil {
		return tensor.Tensor{}, err
	}
	s.memory.lengths = s.memory.lengths[:0]
	for _, n := range r.Slots {
		s.memory.lengths = append(s.memory.lengths, int(n))
	}
	s.memory.slots = divided(s.memory.slots[:0], lists[1], s.memory.lengths)
	o.commit(updates{slots: s.memory.slots, scale: r.Scale, streak: r.Streak}, s.step, params, &s.form.slots)
	return r.Loss, nil
}

// note counts the first step as one of the form that the second one has, which is recorded then. The second step returns
// errors.
func (s *steps[M, B]) note(m *M, b B, rng *tensor.RNG) {
	if args, ok, err := s.arguments(m, b, rng); ok && err == nil {
		s.f.Saw(args, s.memory.list)
		s.memory.forget()
	}
}

// arguments returns the arguments of a recorded step; those in lists are s.memory. ok is false if the step is not recorded.
func (s *steps[M, B]) arguments(m *M, b B, rng *tensor.RNG) (args stepArgs[B], ok bool, err error) {
	o := s.o
	args = stepArgs[B]{
		Batch: b, RNG: rng, Scale: o.State.Scale, Streak: o.State.Streak,
		Rule: o.Rule, Groups: o.Groups, ClipNorm: o.ClipNorm, Precision: o.Precision, Scaling: o.Scaling, Sent: o.ParallelPrecision, ZeRO: o.ZeRO, Masters: o.MasterWeights,
	}
	s.model = m
	if s.form, err = s.find(m); err != nil || s.form.loose {
		return args, false, err
	}
	args.Model = s.form.number
	list, err := pytree.AppendValues(s.memory.list[:0], m)
	if err != nil {
		return args, false, fmt.Errorf("optim: %w", err)
	}
	like := append(s.memory.like[:0], list...)
	params, err := s.form.of(list, s.memory.params)
	if err != nil {
		return args, false, err
	}
	if o.dividesModel() {
		for i, l := range params {
			if params[i].Value = o.partOfModel(l.Value); o.isWhole(l, params[i].Value) {
				return args, false, nil // of another model, which is whole
			}
			list[i] = params[i].Value
			if isDivided(l) {
				args.Shapes = append(args.Shapes, shapeOf(l.Value))
			}
		}
	}
	if o.RuleFor != nil {
		for _, l := range params {
			args.Rules = append(args.Rules, o.RuleFor(l.Name))
		}
	}
	lacks := false
	if list, args.Slots, lacks, err = o.appendSlots(list, s.memory.lengths[:0], params, &s.form.slots); err != nil || lacks {
		return args, false, err
	}
	s.memory = stepMemory{params, list, args.Slots, s.memory.slots, like}
	return args, true, nil
}

// run makes a step that is not recorded.
func (s *steps[M, B]) run(m *M, b B, rng *tensor.RNG) (tensor.Tensor, error) {
	if err := errors.Join(s.o.meet(*m), s.o.divideModel(m)); err != nil {
		return tensor.Tensor{}, err
	}
	states, err := statesOf(*m)
	if err != nil {
		return tensor.Tensor{}, err
	}
	gifts := storage.TakeGifts(states) // the step takes donated parameters
	defer gifts.Return()
	loss, next, g := ValueAndGradAux(s.o, func(m M) (tensor.Tensor, M) { return s.loss(m, b, rng) })(*m)
	if _, err := previous(*m, next); err != nil {
		return tensor.Tensor{}, err
	}
	old, err := s.stored(*m)
	if err != nil {
		return tensor.Tensor{}, err
	}
	if err := s.o.step(&next, g, &loss); err != nil {
		return tensor.Tensor{}, err
	}
	*m = next
	model, err := s.stored(next)
	if err != nil {
		return tensor.Tensor{}, err
	}
	tensor.Internal.FreeReplaced(graph.Token{}, "optim.Jit", keepModel, old, model)
	gifts.Free(nodesOf(model))
	return loss, nil
}

// stored returns the tensors of a model, of parameters that are divided the parts.
func (s *steps[M, B]) stored(model M) ([]tensor.Tensor, error) {
	list, err := pytree.Values[tensor.Tensor](model)
	if err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	for i, t := range list {
		list[i] = s.o.partOfModel(t)
	}
	return list, nil
}

var signer = pytree.NewSigner(pytree.LeafTypeFor[tensor.Tensor]())

// maxModels is the number of forms of models that are kept.
const maxModels = 16

// find returns the form of a model.
func (s *steps[M, B]) find(m *M) (*modelForm, error) {
	model := signer.Borrow(m)
	defer model.Return()
	for _, f := range s.forms {
		if f.model.Equal(model) {
			return f, nil
		}
	}
	params, err := pytree.Flatten[tensor.Tensor](*m)
	if err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	for i := range params {
		params[i].Value = tensor.Tensor{}
	}
	rngs, err := pytree.Values[tensor.RNG](*m)
	if err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	f := &modelForm{number: s.count, loose: len(rngs) > 0 || model.Opaque(), model: model.Clone(), params: params}
	s.count++
	if len(s.forms) == maxModels {
		s.forms = slices.Delete(s.forms, 0, 1)
	}
	s.forms = append(s.forms, f)
	return f, nil
}

// of returns the parameters of a model of the form that have some values, in memory of earlier ones.
func (f *modelForm) of(values []tensor.Tensor, memory []pytree.Leaf[tensor.Tensor]) ([]pytree.Leaf[tensor.Tensor], error) {
	if len(values) != len(f.params) {
		return nil, fmt.Errorf("optim: a model of %d tensors, before of %d", len(values), len(f.params))
	}
	params := append(memory[:0], f.params...)
	for i := range params {
		params[i].Value = values[i]
	}
	return params, nil
}

// trace is a step of placeholders, in a transaction.
func (s *steps[M, B]) trace(a stepArgs[B], list []tensor.Tensor, t *jit.Trace) (r stepResults, lists [][]tensor.Tensor, err error) {
	n := len(s.form.params)
	o := *s.o
	given, err := s.form.of(list[:n], nil)
	if err != nil {
		return r, nil, err
	}
	model, err := pytree.Rebuild(*s.model, o.gathered(given, s.memory.like, o.Precision))
	if err != nil {
		return r, nil, err
	}
	slots := divided(nil, list[n:], a.Slots)
	o.Rule, o.Groups, o.State = a.Rule, a.Groups, State{Scale: a.Scale, Streak: a.Streak}
	loss, next, g := ValueAndGradAux(&o, func(m M) (tensor.Tensor, M) { return s.loss(m, a.Batch, a.RNG) })(model)
	was, err := previous(model, next)
	if err != nil {
		return r, nil, err
	}
	params, gs, err := align(&next, g)
	if err != nil {
		return r, nil, err
	}
	if !signer.Sign(&model).Equal(signer.Sign(&next)) { // the loss sets a number in it, say
		return r, nil, jit.ErrUnrecorded
	}
	if err := o.check(params); err != nil {
		return r, nil, err
	}
	if o.RuleFor != nil {
		rules := map[string]Rule{}
		for i, l := range params {
			rules[l.Name] = a.Rules[i]
		}
		o.RuleFor = func(name string) Rule { return rules[name] }
	}
	for i, l := range params {
		if params[i].Value = o.partOfModel(l.Value); o.isWhole(l, params[i].Value) { // loss has changed it
			params[i].Value = partOf(l.Value, o.Parallel)
		}
	}
	o.average(params, gs, &loss)
	var scalars stepScalars
	u, err := o.updates(params, gs, slots, s.rate, s.step, scalars.note)
	if err != nil {
		return r, nil, err
	}
	if scalars.conflict {
		return r, nil, jit.ErrUnrecorded
	}
	for i := range params {
		params[i].Value = o.partOfModel(was[i])
	}
	t.Previous = map[*graph.Node]*graph.Node{}
	fresh, before := u.transaction(params, o.State)
	for i, x := range fresh {
		if x.IsValid() && before[i].IsValid() {
			t.Previous[node(x)] = node(before[i])
		}
	}
	t.Numbers = scalars.nodes
	t.Values = func() ([]ir.Number, bool, error) { return scalars.valuesAt(s.rate, s.step) }
	var kept []tensor.Tensor
	for _, slots := range u.slots {
		r.Slots, kept = r.Slots+string(rune(len(slots))), append(kept, slots...)
	}
	r.Scale, r.Streak, r.Loss = u.scale, u.streak, loss
	return r, [][]tensor.Tensor{u.params, kept}, nil
}
