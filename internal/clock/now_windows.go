package clock

import (
	"syscall"
	"time"
	"unsafe"
)

var (
	kernel32  = syscall.NewLazyDLL("kernel32.dll")
	counter   = kernel32.NewProc("QueryPerformanceCounter").Addr()
	frequency = query(kernel32.NewProc("QueryPerformanceFrequency").Addr()) // ticks a second
	start     = time.Now()
	startTick = query(counter) // at about that time
)

func now() time.Time { return start.Add(duration(query(counter)-startTick, frequency)) }

func since(t time.Time) time.Duration { return now().Sub(t) }

// duration is the duration of a number of ticks. It converts whole seconds separately, because
// nanoseconds times ticks overflow within the hour.
func duration(ticks, frequency int64) time.Duration {
	return time.Duration(ticks/frequency)*time.Second + time.Duration(ticks%frequency*int64(time.Second)/frequency)
}

// query calls a function that sets an int64. The call succeeds on all versions of Windows that Go
// supports.
func query(function uintptr) (n int64) {
	syscall.SyscallN(function, uintptr(unsafe.Pointer(&n)))
	return n
}
