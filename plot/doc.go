// Package plot draws tensors: heat maps, images, lines, points and histograms, as PNG and
// SVG files, in a terminal and in a notebook. Read figure.go first, then lines.go and
// mosaic.go.
//
//	plot.Heatmap(weights).Save("weights.png")
//
//	f := plot.Lines(plot.Series{Name: "training", Y: losses}, plot.Series{Name: "test", Y: tests})
//	f.X.Label, f.Y.Label, f.Y.Log = "epoch", "loss", true
//	err := f.Save("losses.svg")
//
// # Figures
//
// A function such as [Heatmap] returns a [Figure], whose fields may be set before it is written. A
// field that is set is drawn or is an error: a spectrogram and a confusion matrix are
//
//	f := plot.Heatmap(decibels) // [frequencies frames]
//	f.X.Max, f.X.Label, f.Y.Max, f.Y.Label, f.OriginBelow = seconds, "s", 8, "kHz", true
//
//	f := plot.Heatmap(counts) // [classes classes]
//	f.X.Names, f.Y.Names, f.Numbers = classes, classes, "%.0f"
//
// Tensors are computed and read when a figure is first written, and once. The
// heat map and the image of a large tensor are reduced on its device before that, to the
// means of blocks, so that less is read.
//
// Misuse panics with a [*tensor.Error]: a shape that cannot be drawn, an absent tensor, a
// tensor without elements. Other failures are returned as errors by the method that writes.
//
// PNG and SVG are drawn by gonum.org/v1/plot, whose modules add some 60 lines to the go.sum of a
// program that imports this package, or has the command tensorken as a tool.
package plot
