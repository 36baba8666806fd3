// Package table reads tables of text, such as CSV, and prepares their columns for a model. Read
// frame.go first, then find.go.
//
// [Load] reads a file and [Read] a reader into a [Frame]: separator, header and the kinds of
// columns are told by [Options] or found, and printing the frame shows the findings and their
// reasons. Where the text leaves two readings it is an error that names the option to set.
//
//	f, err := table.Load("flats.csv", nil)
//	x, err := f.Tensor(tensor.Float32, "rooms", "area")     // [rows 2]
//	city, err := table.Column[string](f, "city")            // also float32, int64, time.Time …
//
// [Frame.Into] fills the fields of a struct with all columns in one pass. A [Scaler] brings
// columns to one scale and an [Encoder] turns names into numbers. Both are made of tensors, so
// that they are fields of a model and are saved with it.
package table
