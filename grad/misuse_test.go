package grad_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/tensor"
)

// TestMisuse checks the messages for mistakes, after the caller's line.
func TestMisuse(t *testing.T) {
	x, scalar, batch := f64(1, 2), f64(3).Reshape(), matrix(3, 2, 1, 2, 3, 4, 5, 6)
	type pair struct{ A, B tensor.Tensor }
	same := func(x tensor.Tensor) tensor.Tensor { return x }
	nothing := func(tensor.Tensor) tensor.Tensor { return tensor.Tensor{} }
	sum := func(x tensor.Tensor) tensor.Tensor { return x.Sum() }
	positions := func(x tensor.Tensor) tensor.Tensor { return x.ArgMax(0) }
	withPush := func(push func(x, v tensor.Tensor) tensor.Tensor) function {
		return grad.CustomJVP(same, func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return x, push(x, v) })
	}
	//lint:ignore U1000 its presence matters
	type unwalkable struct{ hidden tensor.Tensor }
	_, push := grad.Linearize(same, x)
	look := func(f func(x tensor.Tensor)) func() {
		return func() {
			grad.Vmap(func(x tensor.Tensor) tensor.Tensor {
				f(x)
				return x
			})(batch)
		}
	}
	// fail turns an error into the panic that Try takes.
	fail := func(err error) {
		var e *tensor.Error
		if errors.As(err, &e) {
			panic(e)
		}
	}
	var text strings.Builder
	place := regexp.MustCompile(`^\w+_test\.go:\d+: `)
	for _, tt := range []struct {
		call string
		f    func()
	}{
		{"JVP, tangent of another shape", func() { grad.JVP(same, x, f64(1, 2, 3)) }},
		{"JVP, tangent of another type", func() { grad.JVP(same, x, tensor.New([]float32{1, 2})) }},
		{"JVP, tangent of integers", func() { grad.JVP(same, x, i32(1, 2)) }},
		{"JVP, tangent with more leaves", func() {
			grad.JVP(func(x []tensor.Tensor) tensor.Tensor { return x[0] }, []tensor.Tensor{x}, []tensor.Tensor{x, x})
		}},
		{"JVP of what cannot be walked", func() {
			grad.JVP(func(unwalkable) tensor.Tensor { return x }, unwalkable{}, unwalkable{})
		}},
		{"Linearize, tangent of another shape", func() { push(f64(1, 2, 3)) }},
		{"Diff of a vector", func() { grad.Diff(same)(x) }},
		{"Diff of an integer", func() { grad.Diff(same)(i32(1)) }},
		{"Diff of the absent tensor", func() { grad.Diff(same)(tensor.Tensor{}) }},
		{"HVP, function to two elements", func() { grad.HVP(same, x, x) }},
		{"HVP, direction of another shape", func() { grad.HVP(sum, x, f64(1)) }},
		{"Hessian, function to two elements", func() { grad.Hessian(same)(x) }},
		{"Hessian, function to nothing", func() { grad.Hessian(nothing)(x) }},
		{"JacFwd, function to nothing", func() { grad.JacFwd(nothing)(x) }},
		{"JacFwd, function to integers", func() { grad.JacFwd(positions)(x) }},
		{"JacRev, function to nothing", func() { grad.JacRev(nothing)(x) }},
		{"JacRev, function to integers", func() { grad.JacRev(positions)(x) }},
		{"Of, function to nothing", func() { grad.Of(nothing)(x) }},

		{"JVP of Custom", func() {
			grad.JVP(grad.Custom(same, func(_, _, ct tensor.Tensor) tensor.Tensor { return ct }), x, x)
		}},
		{"Custom, cotangent of another shape", func() {
			pullOnes(grad.Custom(sum, func(_, _, ct tensor.Tensor) tensor.Tensor { return ct }))(x)
		}},
		{"CustomJVP, tangent of another shape", func() {
			pushOnes(grad.CustomJVP(sum, func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return x.Sum(), v }))(x)
		}},
		{"CustomJVP by reverse mode, tangent of another shape", func() {
			pullOnes(grad.CustomJVP(sum, func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return x.Sum(), v }))(x)
		}},
		{"CustomJVP, tangent that does not depend on v", func() { pullOnes(withPush(func(x, _ tensor.Tensor) tensor.Tensor { return x }))(x) }},
		{"CustomJVP, tangent made of v's value", func() {
			pullOnes(withPush(func(x, v tensor.Tensor) tensor.Tensor { return tensor.New([]float64{v.Sum().Item(), 1}) }))(x)
		}},
		{"CustomJVP, tangent v·v", func() { pullOnes(withPush(func(_, v tensor.Tensor) tensor.Tensor { return v.Mul(v) }))(x) }},
		{"CustomJVP, tangent exp v", func() { pullOnes(withPush(func(_, v tensor.Tensor) tensor.Tensor { return v.Exp() }))(x) }},
		{"CustomJVP, tangent softmax v", func() { pullOnes(withPush(func(_, v tensor.Tensor) tensor.Tensor { return v.Softmax(0) }))(x) }},
		{"CustomJVP, tangent |v|", func() { pullOnes(withPush(func(_, v tensor.Tensor) tensor.Tensor { return v.Mul(v.Sign()) }))(x) }},
		{"CustomJVP, tangent where v", func() {
			pullOnes(withPush(func(_, v tensor.Tensor) tensor.Tensor { return tensor.Where(v.Gt(0), v.Mul(2), v) }))(x)
		}},
		{"CustomJVP, tangent x/v", func() { pullOnes(withPush(func(x, v tensor.Tensor) tensor.Tensor { return x.Div(v) }))(x) }},
		{"Vmap over Custom whose pull captures an example", func() {
			grad.Of(func(w tensor.Tensor) tensor.Tensor {
				return grad.Vmap(func(x tensor.Tensor) tensor.Tensor {
					return grad.Custom(same, func(_, _, ct tensor.Tensor) tensor.Tensor { return ct.Mul(x) })(w)
				})(batch).Sum()
			})(x)
		}},
		{"Vmap over Custom of examples whose pull captures one", func() {
			grad.Of(func(x tensor.Tensor) tensor.Tensor {
				return grad.Vmap(func(x tensor.Tensor) tensor.Tensor {
					return grad.Custom(same, func(_, _, ct tensor.Tensor) tensor.Tensor { return ct.Mul(x) })(x.Sin())
				})(x).Sum()
			})(batch)
		}},
		{"Custom that captures", func() {
			pullOnes(func(x tensor.Tensor) tensor.Tensor {
				return grad.Custom(func(y tensor.Tensor) tensor.Tensor { return x.Mul(y) }, func(_, _, ct tensor.Tensor) tensor.Tensor { return ct })(x)
			})(x)
		}},
		{"CustomJVP that captures an example", func() {
			grad.Vmap(func(x tensor.Tensor) tensor.Tensor {
				return grad.CustomJVP(func(y tensor.Tensor) tensor.Tensor { return x.Mul(y) }, func(y, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return y, v })(f64(1))
			})(batch)
		}},

		{"Vmap of different sizes", func() {
			grad.Vmap(func(p pair) tensor.Tensor { return p.A })(pair{batch, x})
		}},
		{"VmapAxes of different sizes", func() {
			grad.VmapAxes(func(p pair) tensor.Tensor { return p.A }, -1, 0)(pair{batch, f64(1, 2, 3)})
		}},
		{"Vmap of nothing", func() {
			grad.Vmap(func(p pair) tensor.Tensor { return x })(pair{})
		}},
		{"Vmap of a number", func() { grad.Vmap(same)(scalar) }},
		{"VmapAxes of an axis that is not there", func() { grad.VmapAxes(same, 2, 0)(batch) }},
		{"VmapAxes to an axis that is not there", func() { grad.VmapAxes(sum, 0, 1)(batch) }},
		{"Vmap of what cannot be walked", func() { grad.Vmap(func(unwalkable) tensor.Tensor { return x })(unwalkable{}) }},
		{"Vmap twice of a vector", func() { grad.Vmap(grad.Vmap(same))(x) }},
		{"Vmap of Diff of a vector", func() { grad.Vmap(grad.Diff(same))(batch) }},
		{"Vmap, shapes that differ by example", func() {
			grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Add(f64(1, 2, 3)) })(batch)
		}},

		{"Vmap, Item", look(func(x tensor.Tensor) { x.Sum().Item() })},
		{"Vmap, if", look(func(x tensor.Tensor) {
			if x.Sum().Item() > 0 {
				t.Error("an example has a value")
			}
		})},
		{"Vmap, Data", look(func(x tensor.Tensor) {
			_, err := tensor.Data[float64](x)
			fail(err)
		})},
		{"Vmap, Eval", look(func(x tensor.Tensor) { fail(tensor.Eval(x)) })},
		{"Vmap, printing", look(func(x tensor.Tensor) {
			if s := fmt.Sprint(x); strings.HasPrefix(s, "error: ") {
				panic(&tensor.Error{Msg: strings.TrimPrefix(s, "error: ")})
			}
		})},
		{"Vmap, AllClose", look(func(x tensor.Tensor) {
			_, err := tensor.AllClose(x, x, 0, 0)
			fail(err)
		})},
		{"Vmap, JSON", look(func(x tensor.Tensor) {
			_, err := json.Marshal(x)
			fail(err)
		})},
		{"Vmap, Perm", look(func(x tensor.Tensor) {
			tensor.KeyRNG(x.Cast(tensor.Uint32)).Perm(3)
		})},
		{"Vmap, what was handed out", func() {
			var out tensor.Tensor
			look(func(x tensor.Tensor) { out = x.Exp() })()
			out.Add(1).Sum().Item()
		}},
		{"Vmap, what was handed out of one to another", func() {
			var out tensor.Tensor
			look(func(x tensor.Tensor) { out = x.Exp() })()
			fail(tensor.Eval(grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Add(out) })(batch)))
		}},
		{"Vmap, what was handed out of one inside of another", look(func(x tensor.Tensor) {
			var out tensor.Tensor
			grad.Vmap(func(x tensor.Tensor) tensor.Tensor {
				out = x.Exp()
				return x
			})(x)
			out.Item()
		})},
		{"Vmap, a key that was handed out", func() {
			var out *tensor.RNG
			look(func(x tensor.Tensor) { out = tensor.KeyRNG(x.Cast(tensor.Uint32)) })()
			out.Perm(3)
		}},
		{"Vmap of Of, Item", func() {
			grad.Vmap(grad.Of(func(x tensor.Tensor) tensor.Tensor {
				x.Sum().Item()
				return x.Sum()
			}))(batch)
		}},
	} {
		err := tensor.Try(tt.f)
		message := "nothing"
		if err != nil {
			message = err.Error()
			if !place.MatchString(message) {
				t.Errorf("%s: the error does not begin with the caller's line: %v", tt.call, err)
			}
			message = place.ReplaceAllString(message, "")
		}
		fmt.Fprintf(&text, "%s\n\t%s\n", tt.call, message)
	}
	goldentext.Check(t, "testdata/misuse.txt", text.String())
}
