//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"bytes"
	"runtime"
	"sync"
	"unsafe"

	"github.com/tensorken/tensorken/internal/dynlib"
)

// A vulkanGPU is a GPU as Vulkan describes it.
type vulkanGPU struct {
	vendorID, deviceID uint32
	name               string
	memory             int64 // bytes of the largest heap of its own
}

// vulkanGPUs lists the GPUs of the machine. There are none if Vulkan is missing or fails.
var vulkanGPUs = sync.OnceValue(func() []vulkanGPU {
	library, err := dynlib.Open(vulkanLoaders[runtime.GOOS])
	if err != nil {
		return nil
	}
	var v vulkanFunctions
	if dynlib.Find(library, "vk", &v) != "" {
		return nil
	}
	return v.list()
})

var vulkanLoaders = map[string]string{"linux": "libvulkan.so.1", "windows": "vulkan-1.dll"}

// vulkanMemory returns the bytes of an adapter's own memory, 0 if Vulkan does not tell. Dawn
// has no heaps of NVIDIA's GPUs.
func vulkanMemory(a *Adapter) int64 {
	for _, g := range vulkanGPUs() {
		if g.vendorID == a.VendorID && g.deviceID == a.DeviceID && g.name == a.Name {
			return g.memory
		}
	}
	return 0
}

// vulkanFunctions has the addresses of functions: CreateInstance is vkCreateInstance.
type vulkanFunctions struct {
	CreateInstance, DestroyInstance, EnumeratePhysicalDevices      uintptr
	GetPhysicalDeviceProperties, GetPhysicalDeviceMemoryProperties uintptr
}

// vulkanInstanceInfo is VkInstanceCreateInfo.
type vulkanInstanceInfo struct {
	sType uint32
	_     [7]uint64
}

// vulkanProperties is VkPhysicalDeviceProperties.
type vulkanProperties struct {
	_                  [2]uint32 // versions
	vendorID, deviceID uint32
	_                  uint32
	name               [256]byte
	_                  [128]uint64 // the rest, and room
}

// vulkanMemoryProperties is VkPhysicalDeviceMemoryProperties.
type vulkanMemoryProperties struct {
	_     [65]uint32 // types of memory
	count uint32
	heaps [16]struct {
		size  uint64
		flags uint64 // of which a word is padding
	}
}

const vulkanInstanceInfoType = 1

// list asks for the GPUs of the machine.
func (v *vulkanFunctions) list() []vulkanGPU {
	info := &vulkanInstanceInfo{sType: vulkanInstanceInfoType}
	instance, count := new(uintptr), new(uint32)
	if uint32(dynlib.Call(v.CreateInstance, uintptr(unsafe.Pointer(info)), 0, uintptr(unsafe.Pointer(instance)))) != 0 {
		return nil
	}
	defer dynlib.Call(v.DestroyInstance, *instance, 0)
	dynlib.Call(v.EnumeratePhysicalDevices, *instance, uintptr(unsafe.Pointer(count)), 0)
	if *count == 0 {
		return nil
	}
	handles := make([]uintptr, *count)
	dynlib.Call(v.EnumeratePhysicalDevices, *instance, uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(&handles[0])))
	var list []vulkanGPU
	for _, h := range handles[:*count] {
		p, m := new(vulkanProperties), new(vulkanMemoryProperties)
		dynlib.Call(v.GetPhysicalDeviceProperties, h, uintptr(unsafe.Pointer(p)))
		dynlib.Call(v.GetPhysicalDeviceMemoryProperties, h, uintptr(unsafe.Pointer(m)))
		name, _, _ := bytes.Cut(p.name[:], []byte{0})
		list = append(list, vulkanGPU{p.vendorID, p.deviceID, string(name), m.deviceLocal()})
	}
	return list
}

// deviceLocal returns the size of the largest heap of device memory.
func (m *vulkanMemoryProperties) deviceLocal() int64 {
	var most uint64
	for _, h := range m.heaps[:m.count] {
		if uint32(h.flags)&heapDeviceLocal != 0 {
			most = max(most, h.size)
		}
	}
	return int64(most)
}
