// Package gputest has the suite for devices, on a GPU through WebGPU. It imports no package above the
// evaluation of graphs, so go test keeps its result while others change.
package gputest
