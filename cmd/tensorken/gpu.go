package main

import "github.com/spf13/cobra"

func gpuCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "gpu",
		Short: "Look at this machine's GPUs",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(gpuInstallCommand())
	return c
}
