// Command tensorken trains a classifier, looks at how good it is, and measures
// what it runs on.
//
//	tensorken train                      # on 1,797 handwritten digits, built in
//	tensorken predict digits.safetensors # on those that train held out
//	tensorken bench                      # CPU beside GPU
//	tensorken gpu                        # which GPUs there are; to install and check what they need
//
// A mistake, or output that cannot be written, gives one line on standard
// error and exit status 1. Ctrl-C or SIGTERM stops train after the step it is
// at, saves the best model so far, and exits with status 0; a second ends it at
// once.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // after the first, a signal ends the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command with those arguments; it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "tensorken",
		Short:         "Train a small neural network, and measure what it runs on",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(trainCommand(), predictCommand(), benchCommand(), gpuCommand())
	out := &output{w: stdout}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	if err := cmp.Or(root.ExecuteContext(ctx), out.err); err != nil {
		fmt.Fprintln(stderr, "tensorken:", err)
		return 1
	}
	return 0
}

// An output keeps the first error of writing, so that commands need not look
// at what each fmt.Fprint returns.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	if err != nil {
		o.err = fmt.Errorf("the output could not be written: %w", err)
	}
	return n, o.err
}

// noArgs refuses what is not a flag.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s: %q is not a flag, and it takes nothing else: see %[1]s --help", c.CommandPath(), args[0])
	}
	return nil
}
