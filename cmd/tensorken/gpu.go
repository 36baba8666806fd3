package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/cuda"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/wgpu"
)

func gpuCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "gpu",
		Short: "List this machine's GPUs, install what they need, check one",
		Long: `List the GPUs that NVIDIA's driver finds, and the adapters, GPUs and software ones,
that this machine's WebGPU library finds. As a device, cuda:0 is the first of those GPUs and
webgpu:0 the first adapter; webgpu is the fastest one.

If there is no WebGPU library yet, tensorken gpu install fetches one. GPUs of NVIDIA need none.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			gpus, cudaErr := cuda.GPUs()
			if !errors.Is(cudaErr, cuda.ErrNoDriver) {
				printGPUs(c.OutOrStdout(), gpus, cudaErr)
			}
			library, adapters, err := findAdapters()
			if err != nil && len(gpus) > 0 { // these GPUs need no adapter
				fmt.Fprintln(c.OutOrStdout(), "webgpu     ", err)
				return nil
			}
			if err != nil {
				return err
			}
			printAdapters(c.OutOrStdout(), library, adapters)
			return nil
		},
	}
	c.AddCommand(gpuInstallCommand(), gpuCheckCommand())
	return c
}

// findAdapters returns the path of the WebGPU library and the adapters that it finds.
func findAdapters() (library string, adapters []wgpu.Adapter, err error) {
	l, err := wgpu.Load("")
	if err != nil {
		return "", nil, err
	}
	adapters, err = l.Adapters()
	return l.String(), adapters, err
}

// describe returns the name, backend and driver of the adapter of a device, or the device's own
// name if it has no adapter.
func describe(device string) string {
	_, adapters, err := findAdapters()
	if err != nil {
		return device
	}
	return describeAmong(adapters, device)
}

// describeAmong is describe, given all adapters.
func describeAmong(adapters []wgpu.Adapter, device string) string {
	for _, a := range adapters {
		if device == "webgpu ("+a.Name+")" {
			return fmt.Sprintf("%s, %s, %s", a.Name, a.Backend, a.Driver)
		}
	}
	return device
}

// printGPUs prints a line for each GPU that NVIDIA's driver finds, or the error.
func printGPUs(w io.Writer, gpus []cuda.GPU, err error) {
	if err != nil {
		fmt.Fprintln(w, "cuda       ", strings.TrimPrefix(err.Error(), "cuda: "))
	}
	for i, g := range gpus {
		fmt.Fprintf(w, "cuda:%d      %s, %s, compute capability %d.%d\n", i, g.Name, hostmem.Size(int(g.Memory)), g.Capability/10, g.Capability%10)
	}
	fmt.Fprintln(w)
}

// printAdapters prints a paragraph for each adapter.
func printAdapters(w io.Writer, library string, adapters []wgpu.Adapter) {
	fmt.Fprintln(w, "library    ", library)
	for i := range adapters {
		a := &adapters[i]
		features := make([]string, len(a.Features))
		for k, f := range a.Features {
			features[k] = f
			switch {
			case f != wgpu.Subgroups:
			case a.SubgroupMin == a.SubgroupMax:
				features[k] += fmt.Sprintf(" of %d lanes", a.SubgroupMax)
			default:
				features[k] += fmt.Sprintf(" of %d to %d lanes", a.SubgroupMin, a.SubgroupMax)
			}
		}
		l := &a.Limits
		fmt.Fprintf(w, "\nwebgpu:%d    %s\n", i, a.Name)
		for _, line := range [][2]string{
			{"vendor", fmt.Sprintf("%s, 0x%x:0x%x", cmp.Or(a.Vendor, "unknown"), a.VendorID, a.DeviceID)},
			{"type", a.Kind.String()},
			{"backend", a.Backend},
			{"driver", a.Driver},
			{"memory", memory(a)},
			{"buffers", fmt.Sprintf("up to %s; a shader takes %d, up to %s of each", hostmem.Size(int(l.Buffer)), l.StorageBuffers, hostmem.Size(int(l.StorageBinding)))},
			{"workgroups", fmt.Sprintf("up to %d threads (%d×%d×%d) with %s; %d in a row",
				l.WorkgroupSize, l.WorkgroupSizes[0], l.WorkgroupSizes[1], l.WorkgroupSizes[2], hostmem.Size(l.WorkgroupStorage), l.Workgroups)},
			{"features", strings.Join(features, ", ")},
		} {
			fmt.Fprintf(w, "  %-10s %s\n", line[0], cmp.Or(line[1], "none"))
		}
	}
}

// memory describes the memory of an adapter.
func memory(a *wgpu.Adapter) string {
	if a.Memory == 0 {
		return "unknown"
	}
	size := hostmem.Size(int(a.Memory))
	if a.Kind == wgpu.Integrated || a.Kind == wgpu.Software {
		size += ", the host's"
	}
	return size
}
