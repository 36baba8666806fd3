// Package grad transforms functions of tensors into functions, which may be transformed
// again, in any order. Read grad.go first, then tape.go and rules.go.
//
//   - Reverse mode: [Of] gives the function that computes the gradient of another,
//     [ValueAndGrad] one that computes both, [VJP] a function's value and its pullback,
//     [JacRev] the Jacobian.
//   - Forward mode: [JVP] gives a function's value and its change along a direction,
//     [Linearize] the change for any direction, [Diff] the derivative by a number, [JacFwd]
//     the Jacobian.
//   - Both: [Hessian], and [HVP] for its products.
//   - [Vmap] gives the function that applies another, written for one example, to a batch.
//   - [Checkpoint] trades time for memory; [StopGradient], [Custom] and [CustomJVP] define
//     derivatives.
//
// # Functions
//
// A function's argument may be any tree (see package tree), such as a model, and its
// gradient is a value of the same type. Leaves that are not floating-point, and those
// tagged ",state", have no gradient: they come back as the absent tensor. A pointer met
// twice is one parameter, and its gradient the total. The results share no slice, map or
// pointer with the argument, except a [tensor.RNG] and others whose fields package tree
// cannot see: those are shared, so that a second call draws other numbers. Tensors that a
// function captures, rather than gets as its argument, are constants.
//
// A function is called once a call, on a copy of its argument, and must depend on nothing
// that changes. It may look at values (x.Item() > 0), but not inside of Vmap: the branch
// that is taken is differentiated.
//
// # How
//
// Operations make nodes of a graph. A transformation calls its function on fresh
// nodes for the tensors of the argument, and records the nodes between these and the
// results on a tape. Reverse mode goes through the tape backwards and makes nodes of
// cotangents, by one rule for each operation; forward mode makes nodes of tangents
// by the same rules; a batch makes each node again with one more axis. The result
// is a graph like any other: nothing has been computed yet, and all of it is
// compiled and fused as a whole.
//
// # At edges
//
// Where a derivative does not exist, a value is chosen with which training works:
//
//   - Where several elements are the greatest or least (Max, Min, Maximum,
//     Minimum, MaxPool, ScatterMax, ScatterMin) they share it equally.
//   - ReLU, Abs and Sign have 0 at 0, LeakyReLU its slope; Clamp passes the
//     whole derivative at its edges.
//   - Sqrt and Log have +Inf at 0; Norm, NormP and Hypot have 0 where all elements are 0,
//     Cdist where rows are equal, and Std where elements are.
//   - The second derivatives of Abs, norms, Cdist and Std are 0 there too, so that the
//     second derivatives of their squares are 0 and not 2: differentiate Square, a sum of
//     squares, or Var instead.
//   - Pow by its base b·a^(b-1) also at base 0, 0 for b = 0; by its exponent 0
//     at base 0 and b ≥ 0. An exponent that is a number takes no logarithm.
//   - Floor, comparisons and conversions to integers have 0.
//
// Prod divides by nothing, so it is right at zeros. ScatterMul is right at zeros up
// to the second derivative.
package grad
