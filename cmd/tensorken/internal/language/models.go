package language

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/llm/hub"
)

// ModelsCommand is tensorken models.
func ModelsCommand() *cobra.Command {
	cache := ""
	c := &cobra.Command{
		Use:   "models",
		Short: "List the language models that were fetched",
		Long: `List the models that were fetched by their names, hf:owner/name, with their sizes and
folders. To remove one, delete its folder.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return listModels(cache, c.OutOrStdout(), c.ErrOrStderr()) },
	}
	c.Flags().StringVar(&cache, "cache", "", "folder of fetched models (default tensorken/models in the user's cache folder)")
	return c
}

func listModels(cache string, out, notes io.Writer) error {
	list, err := hub.List(cache)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(notes, "no models were fetched: tensorken run hf:owner/name fetches one")
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, m := range list {
		fmt.Fprintf(t, "hf:%s\t%s\t%s\n", m.Name, hostmem.Size(int(m.Size)), m.Path)
	}
	return t.Flush()
}
