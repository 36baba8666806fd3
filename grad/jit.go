package grad

import (
	"errors"

	"github.com/tensorken/tensorken/internal/jit"
	"github.com/tensorken/tensorken/tensor"
)

// Jit returns a function with the results of f, which runs f only to record the plan of its
// result for each form of argument. Later it runs that plan with other tensors: in a small part of the time that it takes to make a graph and to find its plan.
// The result is computed when the call returns. The call panics with a [*tensor.Error] or a
// [*tensor.DeviceError] if that fails.
//
// Two arguments have one form if their tensors have the same shapes, types, layouts and
// devices, and if all else that f can read of them is equal: numbers by their bits, strings,
// elements of maps and slices, targets of pointers, in unexported fields too, functions, and
// which pointers are the same. Tensors in map keys and in fields tagged "-" must be the same
// ones. So a number that changes from call to call, such as a position, is best a tensor. The
// last 64 forms are kept. Values that f captures or reads elsewhere stay as they were when f
// was recorded. In f, the tensors of the argument have no value, so f cannot choose by an if:
// use Where.
//
// A *tensor.RNG in the argument draws on from call to call: f's draws are new in each. One
// made by [tensor.KeyRNG] is an error: pass the key, and make the RNG in f.
//
// f runs twice when it is recorded. If it makes another graph the second time, because it
// draws from an RNG that it captures, or counts its calls, it is not recorded, and each call
// runs it. So it is with a call in a function that this package differentiates or batches, and
// where the argument may change unseen: if it has a function that captures variables, as a
// method value does, a channel, an unsafe.Pointer, a pointer in an unexported field to a struct
// with a mutex or atomics, or more than 16 MiB besides its tensors.
func Jit[P, R any](f func(P) R) func(P) R {
	needFuncs("grad.Jit", f)
	j := &jit.Func[P, R]{Op: "grad.Jit", F: func(p P, _ []tensor.Tensor, _ *jit.Trace) (R, [][]tensor.Tensor, error) { return f(p), nil, nil }}
	return func(p P) R {
		r, _, err := j.Call(p, nil, nil)
		switch {
		case errors.Is(err, jit.ErrUnrecorded):
			return f(p)
		case err != nil:
			panic(err)
		}
		return r
	}
}
