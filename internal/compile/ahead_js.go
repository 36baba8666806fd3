package compile

// readAhead returns nil: programs for browsers have no results so large that it pays, and do not have its code.
func (p *Plan) readAhead(outputs int, mayTake func(leaf, bytes int) bool) *Plan { return nil }
