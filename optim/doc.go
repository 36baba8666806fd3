// Package optim provides optimizers, learning-rate schedules and gradient clipping.
//
// A [Rule], such as [SGD] or [AdamW], computes the new value of one parameter. An
// [Optimizer] applies a rule to every parameter of a model and keeps the rule's
// state. Learning rates and other numbers that change from step to step are
// arguments of the compiled step, so only the first step compiles, or the first two of
// a [Rule] of the caller's own.
//
// In a rule a zero Beta1, Beta2 or Eps means PyTorch's default; a zero
// Momentum, WeightDecay or ClipNorm means none.
package optim
