//go:build !linux

package hostmem

// advise does nothing: other systems choose the size of pages themselves.
func advise([]byte) {}

// giveBack does nothing: pages of earlier use stay with the process.
func giveBack([]byte) {}
