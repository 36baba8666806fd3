//go:build !unix && !windows

package files

// nonblock is 0: opening a file does not block on these systems.
const nonblock = 0
