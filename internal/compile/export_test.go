package compile

// Schedule orders the steps of a plan.
func Schedule(p *Plan, late bool) { p.schedule(late) }

var Prefetch, UpdateLate = (*Plan).prefetch, (*Plan).updateLate
