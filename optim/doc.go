// Package optim has optimizers: what turns gradients into better parameters.
//
// A [Rule] is the arithmetic of one parameter, such as [SGD] or [AdamW]. An
// [Optimizer] applies a rule to every parameter of a model and keeps the state
// that the rule asks for. Learning rates and other numbers that change from
// step to step are arguments of the compiled step, so no step but the first
// two compiles anything.
//
// In a rule a zero Beta1, Beta2 or Eps means PyTorch's default; a zero
// Momentum, WeightDecay or ClipNorm means none.
package optim
