package main

import "github.com/spf13/cobra"

// environmentTopic is the help on environment variables. docs/devices.md has the same list.
func environmentTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "environment",
		Short: "Environment variables of the command and of every program with Tensorken",
		Long: `Environment variables of the command and of every program that uses Tensorken:

  TENSORKEN_CUDA_SYNC   if set, a GPU of NVIDIA ends each kernel before the next, so
                        that the error of one that fails has the kernel
  TENSORKEN_DEVICE      the device where --device, or the name that a program gives
                        to device.Open, is empty: cpu, cuda, cuda:1, webgpu,
                        webgpu:1 or webgpu:NAME; by default a GPU, if one opens,
                        else the CPU
  TENSORKEN_DIST_SECRET the secret that the ranks of a job share, so that those of
                        another are refused; by default the job's number, and
                        tensorken launch makes one
  TENSORKEN_MEMORY      the most memory that the process may use, such as 6GiB; by
                        default the machine's, or that of its control group
                        or job object
  TENSORKEN_NCCL        the absolute path of libnccl.so.2, or of its folder, by which
                        GPUs of several ranks add; off: they add on the host
  TENSORKEN_SIMD        the instructions that the CPU computes with: avx512bf16, avx512vnni,
                        avx512, avx2, neon or go, which is plain Go; by default the
                        best that the processor has
  TENSORKEN_THREADS     the most goroutines that compute on the CPU at once; by
                        default GOMAXPROCS
  TENSORKEN_TUNE        1: GPUs search for the fastest tiles of large products, and
                        keep them in the user's cache folder (tensorken/tune) for
                        later programs; 0: GPUs do not search, and what was
                        kept is ignored
  TENSORKEN_WEBGPU_LIB  the absolute path of the WebGPU library

Memory, threads and the search of one device are also options of a program:
tensor.CPUOptions, cuda.Options and webgpu.Options.`,
	}
}
