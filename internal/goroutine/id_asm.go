//go:build amd64 || arm64 || wasm

package goroutine

// ID returns a number that no other goroutine has as long as the caller's runs.
func ID() uintptr
