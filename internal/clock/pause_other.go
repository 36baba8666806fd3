//go:build !(amd64 || arm64) || noasm

package clock

// Pause does nothing where no instruction is known by which a goroutine that polls leaves time to others.
func Pause() {}
