// Package npy reads and writes NumPy's files of arrays: .npy, with one array, and .npz, a
// zip archive of them by name:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
//
// [Save] writes a tree of tensors, such as a model, under the names that package tree
// describes, and [Load] fills one. The array of a .npy file has the name "", as a single
// [tensor.Tensor] has as a tree:
//
//	var x tensor.Tensor
//	err := npy.Load("x.npy", &x)
//
// All types of package tensor can be read and written. NumPy has no bfloat16: such an
// array has NumPy's type V2, as package ml_dtypes writes it, and is viewed in Python by
// np.load(path).view(ml_dtypes.bfloat16). Arrays of big-endian numbers, in Fortran order
// and in compressed archives are read, too; Save writes little-endian numbers in C order,
// uncompressed. Reading an array of another type, such as complex numbers or strings, is
// an error that names the type. Pickled objects are never unpickled.
//
// Open checks all headers, so an invalid file gives one error that names the fault.
package npy
