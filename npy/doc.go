// Package npy reads and writes NumPy's files of arrays: .npy, with one array, and .npz, a zip
// archive of them by name:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Read file.go first.
//
// [Save] writes a tree of tensors, such as a model, under the names that package tree describes,
// and [Load] fills one. The array of a .npy file has the name "", as a single [tensor.Tensor]
// has as a tree.
//
// All types of package tensor can be read and written. NumPy has no bfloat16: such an array has
// NumPy's type V2, which Python views by np.load(path).view(ml_dtypes.bfloat16). Arrays of
// big-endian numbers, in Fortran order and in compressed archives are read, too; Save writes
// little-endian numbers in C order, uncompressed. Other types, such as complex numbers, are an
// error that names the type. Pickled objects are never unpickled.
package npy
