// Package schedule turns kernels into programs of the language of package shader, for a
// [Target]: it decides passes, threads, tiles and splits. It writes no text and needs no
// GPU. Read compile.go first.
//
// All work is split by shapes and the target, never by timing, and every
// combination has a fixed order: the same kernel on the same target gives the
// same bits.
//
// Package build has the parts that schedules are made of. A package for each template decides: pointwise;
// reduce; contraction and attention, which compute products of package product by package tiles; and
// routines.
//
// Positions and element numbers are I32, numbers of threads and points U32.
package schedule
