// Package draw draws graphs as SVG: the operations of an expression, or the layers of a model.
// Nothing need be installed.
//
//	draw.Graph(x.Sub(x.Mean(1)).Square()).Save("graph.svg")
//	draw.Model(nn.SummaryOf(net, func(net Net) tensor.Tensor { return net.Apply(x) })).Save("net.svg")
//
// Data flow from top to bottom. Vertices lie in layers by the longest way to them, and are
// moved so that few edges cross.
//
// Source: Sugiyama, Tagawa, Toda, "Methods for Visual Understanding of Hierarchical System
// Structures", 1981.
package draw
