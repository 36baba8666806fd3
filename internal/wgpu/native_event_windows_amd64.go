package wgpu

// On this system a string view passed by value is a pointer to a copy.

func onStatus(status, message, u1, u2 uintptr) uintptr {
	post(u1, &event{id: u2, a: status, message: (*stringView)(pointer(message)).String()})
	return 0
}

func onResult(a, b, message, u1, u2 uintptr) uintptr {
	post(u1, &event{id: u2, a: a, b: b, message: (*stringView)(pointer(message)).String()})
	return 0
}
