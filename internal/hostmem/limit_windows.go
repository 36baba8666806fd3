package hostmem

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length        uint32
	load          uint32
	totalPhysical uint64
	rest          [6]uint64
}

// systemLimit is the smaller of the machine's memory and the limits of the process's job object,
// as containers have one.
func systemLimit() (limit int, ok bool) {
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	machine, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx").Call(uintptr(unsafe.Pointer(&s)))
	limit, ok = int(min(s.totalPhysical, math.MaxInt)), machine != 0
	const own = 0 // the job of this process
	if info, err := jobLimits(own); err == nil {
		if n, found := memoryLimit(info); found && (!ok || n < limit) {
			limit, ok = n, true
		}
	}
	return limit, ok
}

func jobLimits(job windows.Handle) (info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION, err error) {
	err = windows.QueryInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return info, err
}

// memoryLimit is the smaller limit of one process and of all of a job.
func memoryLimit(info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) (limit int, ok bool) {
	n := uintptr(math.MaxInt)
	flags := info.BasicLimitInformation.LimitFlags
	if flags&windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY != 0 {
		n = min(n, info.ProcessMemoryLimit)
	}
	if flags&windows.JOB_OBJECT_LIMIT_JOB_MEMORY != 0 {
		n = min(n, info.JobMemoryLimit)
	}
	return int(n), n < math.MaxInt
}
