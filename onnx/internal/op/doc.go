// Package op is the ground of the operators: types of elements, values, the call of an operator and the
// row of the table of operators. Read value.go and call.go first.
//
// An operator is a [Row] in a table of a package under ops, which ops.Table lists: its name, the versions
// for which its [Func] is right, and the Func. The Func reads inputs and attributes from a [Call] and
// returns results as lazy tensors, made by methods of package tensor: it runs when a model is
// interpreted, and again for each form of its inputs, never for each element. It asks [Call.Ints] and
// [Call.Floats] for elements that it must see: shapes, axes, counts. Of values that do not depend on the
// model's inputs they cost nothing; of others they end the plan, which goes on when the elements are
// there. So an operator asks only for elements that decide the shape of its results. It reports faults by
// [Call.Fail], and may let methods of tensors panic: the interpreter adds node, operator and inputs.
//
// An older form of an operator is the same Func if a check of [Call.Opset] is enough, otherwise a row of
// its own, by [Row.To] and [Row.From].
package op
