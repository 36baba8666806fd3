package hostmem

// systemLimit is half of what 32-bit addresses reach: engines give no more than
// that for sure.
func systemLimit() (int, bool) { return 2 << 30, true }
