package plot

// WatchFiles returns a function for the field Watch of a
// [github.com/tensorken/tensorken/train.Loop] that draws the [Metrics] of a history to
// files, as [Figure.Save] does: the curves as they are so far.
//
//	loop.Watch = plot.WatchFiles[train.Metrics]("run.png", "run.svg")
func WatchFiles[M ~map[string]float64](paths ...string) func(history []M) error {
	return func(history []M) error {
		for _, path := range paths {
			if err := Metrics(history).Save(path); err != nil {
				return err
			}
		}
		return nil
	}
}
