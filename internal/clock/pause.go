//go:build (amd64 || arm64) && !noasm

package clock

// Pause takes some tens of nanoseconds, in which a goroutine that polls leaves the units of its core to
// the core's other thread, and memory to the core that it waits for.
func Pause()
