package hostmem

// systemLimit is half of the 32-bit address space: engines guarantee no more.
func systemLimit() (int, bool) { return 2 << 30, true }
