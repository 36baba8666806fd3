package drivertest

import "testing"

func TestOwned(t *testing.T) {
	Owned(t, open, min(*graphs, 300), *seed)
}
