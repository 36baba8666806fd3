// Package train provides a training loop that shows its progress, metrics of predictions, and a
// search for the operation that makes a NaN. Read loop.go first, then run.go.
//
// A [Loop] runs epochs or steps, validates, keeps the best model, and writes checkpoints from
// which a run that was interrupted or killed goes on exactly:
//
//	l := train.Loop[MLP, Example]{
//		Model: model, Data: loader, Optimizer: opt, RNG: rng, Epochs: 20, Loss: loss,
//		Checkpoint: "run.ckpt", Resume: true, // go on after Ctrl-C, a crash or kill -9
//	}
//	err := l.Run(ctx)
//
// Metrics such as [Accuracy] return a scalar tensor, so that they are computed with the
// predictions in one plan.
package train
