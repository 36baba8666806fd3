// Package solve solves ordinary differential equations and nonlinear least squares, with
// functions of tensors and of trees of them (see package tree). Read ode.go first, then
// dormandprince.go.
//
//   - [ODE] integrates by the adaptive method of Dormand and Prince, and has derivatives by
//     the adjoint equation; [Dense] gives the solution at any time.
//   - [RK4] and [Euler] integrate in steps of a given length. They are compositions of
//     tensor operations, so grad transforms them as any other function.
//   - [LevenbergMarquardt] and [GaussNewton] fit parameters, by the Jacobian of package
//     grad.
package solve
