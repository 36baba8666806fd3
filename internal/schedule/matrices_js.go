package schedule

// A browser has no matrix instructions. What schedules them is left out of programs, of which it
// would be a fiftieth.

func withMatrices(p products) products { return p }

func attentionUnits(a *attention) []attentionUnit {
	return []attentionUnit{&attentionThreads{attention: a}}
}
