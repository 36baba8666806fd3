package optim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// An Optimizer steps all parameters of a model. It is for one goroutine.
type Optimizer struct {
	Rule  Rule
	LR    float64 // the learning rate
	State State
	// Schedule returns a factor on LR for each step, from 0; nil is 1.
	Schedule func(step int) float64
	// ClipNorm limits the norm of all gradients together, as the function
	// [ClipNorm] does. 0 means no limit, a negative value an error.
	ClipNorm float64
	// Groups give parameters rules and learning rates of their own, by name.
	Groups Groups
	// RuleFor, in place of Groups, returns the rule of the named parameter; a nil rule
	// freezes the parameter. If RuleFor is nil, all parameters follow Rule.
	RuleFor func(name string) Rule
	// Precision is the type that [ValueAndGrad], [Jit] and train.Loop compute in: BFloat16 or
	// Float16; 0 is the parameters' own. The loss casts tensors that are not the model's, such as a batch, itself. With
	// Float16 a step whose gradients are not all finite is skipped, and Scaling says how losses are scaled.
	Precision tensor.DType
	Scaling   Scaling
	// Parallel, unless nil, is the ranks that step equal models together: Step averages the gradients
	// over them, and the model's floating-point state. ClipNorm limits the averaged gradients.
	Parallel Ranks
	// ParallelPrecision is the type in which the ranks send and add gradients: BFloat16 or Float16, after each
	// rank has rounded its own and divided them by the number of ranks. Ranks send half as many bytes, and
	// gradients lose digits. 0 is float32, or float64 for gradients of that type.
	ParallelPrecision tensor.DType
	// MasterWeights makes State keep each parameter of 16 bits in float32 too. Rules update that one, whose rounded value
	// is the parameter, so that steps smaller than its digits add up. An element of the parameter that has changed between
	// steps counts in its place. A model whose parameters have 16 bits needs no Precision, and less memory; an
	// [Accumulator] adds its gradients in 16 bits.
	MasterWeights bool
	// ZeRO divides memory over the ranks of Parallel, with the same losses: 1 the State, 2 gradients too, 3 parameters
	// too. Each rank has a part of each slot, so files need FullState. It is for rules that update each element on its
	// own; others, which are LAMB, Muon of matrices and rules of one's own, are an error. With 3 the tensors of
	// the model are gathered where they are read, so that all ranks read them, as they call collectives; steps without Jit
	// gather all before the backward pass.
	//
	// Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", 2020.
	ZeRO int

	journal storage.Journal               // of the steps that computed State
	counter tensor.Tensor                 // State.Step after the last of them
	owner   Ranks                         // that such a State is divided over; nil if it is whole
	parts   map[*graph.Node]tensor.Tensor // of the parameters of a model that a step has made, by its tensors: see gathered
}

// New returns an optimizer with rule r and learning rate lr.
func New(r Rule, lr float64) *Optimizer { return &Optimizer{Rule: r, LR: lr} }

// Step sets *model to a new tree, each parameter updated from its gradient in
// grads, a tree of the model's type. It runs in one plan with the new State
// and, where the gradients come from one call of package grad, with the loss.
// A parameter whose gradient is absent stays as it is.
//
// Step fails if names, shapes or types of model, gradients and State do not match
// (a gradient or a slot without a parameter, for example), if the device fails, or if
// an index such as a label is out of range. *model and State then stay as they were.
//
// A GPU runs asynchronously and finds a bad index after Step has returned. The model
// then holds the elements from before the failed step, and later steps continue from
// them. The error is returned by the read of the loss or, if nobody reads it, by
// [tensor.Device.Sync] or a later Step, which then does nothing else. State.Step
// counts the failed step until a later Step learns of the failure.
//
// Step donates the slots of State, see [tensor.Donate].
func (o *Optimizer) Step(model, grads any) error {
	if o == nil {
		return errors.New("optim: Step of a nil *Optimizer: make one with optim.New")
	}
	return o.step(model, grads, nil)
}

// step is Step, which all ranks make with batches of the same shapes if it is given the loss. That is averaged too.
func (o *Optimizer) step(model, grads any, loss *tensor.Tensor) error {
	params, gs, err := align(model, grads)
	if err != nil {
		return err
	}
	if err := o.check(params); err != nil {
		return err
	}
	if err := o.catchUp(); err != nil {
		return err
	}
	step, err := o.State.step()
	if err != nil {
		return err
	}
	names := &slotNames{}
	if err := o.shard(params, names); err != nil {
		return err
	}
	like := valuesOf(params)
	gifts := storage.TakeGifts(origins(params))
	defer gifts.Return()
	if params, err = o.divide(params); err != nil {
		return err
	}
	kept, lengths, lacks, err := o.appendSlots(nil, nil, params, names)
	if err != nil {
		return err
	}
	slots := divided(nil, kept, lengths)
	if lacks {
		if err := o.addMasters(params, slots, names); err != nil {
			return err
		}
	}
	if err := o.start(params, gs, slots); err != nil {
		return err
	}
	rate, err := o.rate(step)
	if err != nil {
		return err
	}
	o.average(params, gs, loss)
	u, err := o.updates(params, gs, slots, rate, step, nil)
	if err != nil {
		return err
	}
	next, previous := u.transaction(params, o.State)
	gives := make([]bool, len(next)) // the slots, and of Jit parts of parameters, which nobody else has
	for i := range next[:len(next)-2] {
		gives[i] = i < len(next)-2-len(params) || loss != nil && o.dividesModel()
	}
	if !o.dividesModel() { // whole ones are not replaced
		gifts.Give(nodesOf(u.params))
	}
	roots := next
	if loss != nil {
		roots = append(next[:len(next):len(next)], *loss)
	}
	if err := tensor.Internal.Step(graph.Token{}, "optim.Step", keepModel, &o.journal, loss != nil, roots, previous, gives); err != nil {
		return err
	}
	for i := range params {
		params[i].Value = u.params[i]
	}
	if err := pytree.Update(model, o.gathered(params, like, 0)); err != nil {
		return err
	}
	o.commit(u, step, params, names)
	gifts.Free(nodesOf(u.params))
	tensor.Internal.Outlive(graph.Token{}, next...)
	return nil
}

// hasMaster reports whether State has a parameter in float32.
func (o *Optimizer) hasMaster(p tensor.Tensor) bool { return o.MasterWeights && p.DType().IsHalf() }

// rate returns the learning rate of a step.
func (o *Optimizer) rate(step int) (float64, error) {
	if err := limits.NotNegative.Check("LR", o.LR); err != nil {
		return 0, fmt.Errorf("optim: Step of an Optimizer whose %w", err)
	}
	if o.Schedule == nil {
		return o.LR, nil
	}
	f := o.Schedule(step)
	if err := limits.NotNegative.Check("the factor of Schedule", f); err != nil {
		return 0, fmt.Errorf("optim: step %d: %w", step, err)
	}
	return o.LR * f, nil
}

// start prepares the first step to run the same plan as later ones: it stores the
// parameters as steps do, and makes slots of zeros for rules that may start from them.
func (o *Optimizer) start(params []pytree.Leaf[tensor.Tensor], gs []tensor.Tensor, slots [][]tensor.Tensor) error {
	if len(o.State.Slots) > 0 || o.State.Step.IsValid() {
		return nil
	}
	values := make([]tensor.Tensor, len(params))
	for i := range params {
		l := &params[i]
		l.Value = origin(l.Value)
		values[i] = l.Value
		_, rule := o.ruleOf(l.Name)
		if rule == nil || !gs[i].IsValid() || !l.Value.DType().IsFloat() {
			continue
		}
		p := o.ownPart(l.Value)
		d := p.DType().ComputeType()
		for range rule.slots(l.Value) {
			z := tensor.Full(0, p.Shape()...).Cast(d)
			if on := l.Value.Device(); on != nil {
				z = z.To(on)
			}
			slots[i] = append(slots[i], z)
		}
		if o.hasMaster(p) {
			slots[i] = append(slots[i], p.Cast(d))
		}
	}
	if err := store(slices.Concat(slots...)); err != nil {
		return err
	}
	if err := tensor.Eval(values, o.State.Scale, o.State.Streak); err != nil {
		return err
	}
	return tensor.Internal.StoreApart(graph.Token{}, "optim.Step", append(values, o.State.Scale, o.State.Streak))
}

// store computes slots that a step shall replace: one of each shape together, as the device compiles their kernels
// beside each other, and the others one by one, because a plan stores equal ones once.
func store(slots []tensor.Tensor) error {
	var first []tensor.Tensor
	shapes := map[string]bool{}
	for _, z := range slots {
		if text := describe(z); !shapes[text] {
			first, shapes[text] = append(first, z), true
		}
	}
	if err := tensor.Eval(first); err != nil {
		return err
	}
	for _, z := range slots {
		if err := tensor.Eval(z); err != nil {
			return err
		}
	}
	tensor.Internal.Replace(graph.Token{}, slots)
	return nil
}

// addMasters adds to slots the parameters in float32 that State lacks.
func (o *Optimizer) addMasters(params []pytree.Leaf[tensor.Tensor], slots [][]tensor.Tensor, names *slotNames) error {
	for i, l := range params {
		if _, mastered := o.State.countSlots(params, i, names); mastered || len(slots[i]) == 0 || !o.hasMaster(l.Value) {
			continue
		}
		p := o.ownPart(l.Value)
		master := []tensor.Tensor{p.Cast(p.DType().ComputeType())}
		if err := store(master); err != nil {
			return err
		}
		slots[i] = append(slots[i], master...)
	}
	return nil
}

// origin is a parameter that the loss returned unchanged, without the loss: to store one of
// its results would run its forward pass apart from the backward pass.
func origin(t tensor.Tensor) tensor.Tensor {
	if !t.IsValid() {
		return t
	}
	n := node(t)
	for n.Op == ir.CoOutput || n.Op == ir.Argument {
		src, value := n.State()
		if value != nil {
			break
		}
		n = src.At(0)
	}
	return tensor.Internal.Tensor(graph.Token{}, n)
}

// origins returns the nodes of parameters, without the loss.
func origins(params []pytree.Leaf[tensor.Tensor]) []*graph.Node {
	list := valuesOf(params)
	for i, t := range list {
		list[i] = origin(t)
	}
	return nodesOf(list)
}

// catchUp subtracts from State.Step the steps that failed after Step returned, and
// returns their error unless it was reported. A State that the caller has replaced
// does not count them.
func (o *Optimizer) catchUp() error {
	if node(o.State.Step) != node(o.counter) {
		o.journal = storage.Journal{}
		return nil
	}
	failed, failure := tensor.Internal.Failed(graph.Token{}, "optim.Step", &o.journal)
	if failed > 0 {
		done, err := o.State.step()
		if err != nil {
			return err
		}
		o.State.Step = tensor.New([]int32{int32(done - failed)})
		o.counter = o.State.Step
	}
	if failure != nil {
		return fmt.Errorf("optim: an earlier step failed: %w", failure)
	}
	return nil
}
