package hostmem

import (
	"os"
	"os/exec"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

func TestMemoryLimit(t *testing.T) {
	const process, job = windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY, windows.JOB_OBJECT_LIMIT_JOB_MEMORY
	for flags, want := range map[uint32]int{0: 0, windows.JOB_OBJECT_LIMIT_WORKINGSET: 0, process: 5 << 20, job: 7 << 20, process | job: 5 << 20} {
		info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{ProcessMemoryLimit: 5 << 20, JobMemoryLimit: 7 << 20}
		info.BasicLimitInformation.LimitFlags = flags
		if n, ok := memoryLimit(info); ok != (want > 0) || ok && n != want {
			t.Errorf("memoryLimit with the flags %#x = %d, %v, want %d", flags, n, ok, want)
		}
	}
}

// A process in a job that limits its memory has that limit.
func TestJob(t *testing.T) {
	const child, limit = "TENSORKEN_TEST_CHILD", 1 << 30
	if os.Getenv(child) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestJob$")
		c.Env = append(os.Environ(), child+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{ProcessMemoryLimit: limit}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		t.Fatal(err)
	}
	if set, err := jobLimits(job); err != nil || set.ProcessMemoryLimit != limit {
		t.Fatalf("a limit of %d is set and %d found, %v", limit, set.ProcessMemoryLimit, err)
	}
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		t.Fatal(err)
	}
	if n, ok := systemLimit(); n != limit || !ok {
		t.Errorf("systemLimit in a job of 1 GiB = %d, %v", n, ok)
	}
}
