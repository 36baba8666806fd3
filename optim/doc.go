// Package optim provides optimizers, learning-rate schedules, gradient clipping, averages of
// weights and mixed precision. Read optimizer.go first, then rule.go.
//
// A [Rule], such as [SGD] or [AdamW], computes the new value of one parameter. An
// [Optimizer] applies a rule to every parameter of a model and keeps the rule's
// state; [Groups] give parameters rules and rates by name. Learning rates and other
// numbers that change from step to step are arguments of the compiled step, so only the
// first step compiles, or the first two of a [Rule] of the caller's own.
//
// A schedule, such as [Cosine], is any function from steps to factors on the learning rate.
//
// # Settings
//
// In a rule a zero Beta1, Beta2, Decay or Eps means PyTorch's default, or the source's for [LAMB]
// and [Lion]; a zero Momentum, WeightDecay or ClipNorm means none, except where a rule says
// otherwise. Settings that are NaN, infinite or negative are errors.
//
// Rules with squares of gradients count one beyond 7e16 as that (3e150 in float64), so that the
// square is in the type's range, and an Eps below 1e-19 as that.
//
// # By subject
//
//   - Steps: [Optimizer] with [New], [State], [Jit], [Groups], [Group], [Accumulator].
//   - Rules: [SGD], [ASGD], [Rprop]; adaptive: [Adam], [AdamW], [Adamax], [NAdam], [RAdam],
//     [RMSprop], [Adagrad], [Adadelta], [LAMB]; others: [Lion], [Muon]; your own: [Rule].
//   - All the data at once: [LBFGS] with [Minimize].
//   - Schedules: [Cosine], [Linear], [Polynomial], [Exponential], [StepDecay], [MultiStep],
//     [Constant], [OneCycle], [WarmRestarts]; joined: [Warmup], [Rise], [Sequence]; by a metric:
//     [Plateau].
//   - Gradients: [ClipNorm], [ClipValue], [TotalNorm].
//   - Averages of models: [Averaged], [Average].
//   - Several processes: [Ranks].
//   - Mixed precision: [ValueAndGrad], [ValueAndGradAux], [Scaling].
package optim
