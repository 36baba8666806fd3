//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || wasm || windows)

package hostmem

func systemLimit() (int, bool) { return 0, false }
