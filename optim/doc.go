// Package optim provides optimizers, learning-rate schedules, gradient clipping, averages
// of weights and mixed precision.
//
// A [Rule], such as [SGD] or [AdamW], computes the new value of one parameter. An
// [Optimizer] applies a rule to every parameter of a model and keeps the rule's
// state; [Groups] give parameters rules and rates by name. Learning rates and other
// numbers that change from step to step are arguments of the compiled step, so only the
// first step compiles, or the first two of a [Rule] of the caller's own.
//
// A schedule, such as [Cosine], is a function from steps to factors on the learning rate,
// and anything may be one.
//
// In a rule a zero Beta1, Beta2, Decay or Eps means PyTorch's default; a zero
// Momentum, WeightDecay or ClipNorm means none, except where a rule says otherwise.
package optim
