package exec

// ForceGC runs a collection as devices do.
var ForceGC = forceGC

// Tick ends the timer of a device that holds calls, after a number of Runs.
func (d *Device) Tick(runs int) {
	d.queue.Lock()
	defer d.queue.Unlock()
	d.flusher.runs = runs
	d.flusher.tick()
}

// ManyRuns is manyRuns.
const ManyRuns = manyRuns
