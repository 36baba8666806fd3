// Package tune chooses the tiles of large products by their times on the GPU, and keeps the
// choices on disk. Without it internal/schedule chooses by rates of one GPU. Read tune.go first.
//
// Where a program asks for this search (autotuning), the most promising tiles of a product are
// timed on buffers of their own when it is compiled for the first time. The fastest is kept in
// the user's cache folder, in a file for each GPU and driver, from which later processes take it
// without a search. Browsers keep choices in memory alone.
package tune
