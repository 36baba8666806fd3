package compile

// Schedule orders the steps of a plan.
func Schedule(p *Plan) { p.schedule() }

var Prefetch = (*Plan).prefetch
