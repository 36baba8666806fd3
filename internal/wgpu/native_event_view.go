//go:build (linux || darwin || (windows && arm64)) && (amd64 || arm64)

package wgpu

// On these systems a string view passed by value is two arguments.

func onStatus(status, data, n, u1, u2 uintptr) uintptr {
	post(u1, &event{id: u2, a: status, message: stringView{(*byte)(pointer(data)), n}.String()})
	return 0
}

func onResult(a, b, data, n, u1, u2 uintptr) uintptr {
	post(u1, &event{id: u2, a: a, b: b, message: stringView{(*byte)(pointer(data)), n}.String()})
	return 0
}
