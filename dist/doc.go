// Package dist runs one program as several ranks that work together: on one machine, or on many.
// Read group.go first, then collectives.go.
//
// Each rank is a process. It calls [Init], which reads its rank from the variables that tensorken
// launch, torchrun, SLURM, Open MPI and MPICH set, and waits for the others. [Local] runs ranks as
// goroutines of one process, for notebooks and tests.
//
//	g, err := dist.Init(nil)
//	if err != nil { … }
//	defer g.Close()
//	loop := train.Loop[Model, Batch]{Parallel: g, …}
//
// # Collectives
//
// [AllReduce], [AllGather], [ReduceScatter] and [Broadcast] are operations of a graph: lazy,
// differentiable, for Vmap, and recorded by Jit. All ranks call the same ones in the same order. Each
// collective compares its name, shapes and type between the ranks, and in recorded functions a digest
// of the graph before it; a difference is an error on all ranks.
//
// # Failures
//
// A rank that is killed, stopped, or ends without [Group.Close] makes the collectives of all others
// fail within ten seconds. The error is a [*Failure], which names the rank, its host, the step and the
// cause.
package dist
