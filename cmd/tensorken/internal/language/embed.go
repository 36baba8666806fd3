package language

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// embedOptions are the flags of embed.
type embedOptions struct{ flags }

// EmbedCommand is tensorken embed.
func EmbedCommand() *cobra.Command {
	o := &embedOptions{}
	c := &cobra.Command{
		Use:   "embed MODEL [TEXT...]",
		Short: "Print the embeddings of texts",
		Long: `Print the embedding of each text, of an argument or else of a line of standard input: an
object of JSON a line, {"embedding": [...]}. MODEL is as in tensorken run. Pooling and
normalization are those of the model's modules.json; without it, the mean of the tokens.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), args, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.open(c)
	c.Flags().BoolVar(&o.truncate, "truncate", false, "cut texts that are longer than the model reads, an error otherwise")
	return c
}

// embedAtOnce is the number of lines that are embedded together.
const embedAtOnce = 32

func (o *embedOptions) run(ctx context.Context, args []string, in io.Reader, out, notes io.Writer) error {
	m, _, closeAll, err := o.load(ctx, args[0], notes)
	if err != nil {
		return err
	}
	defer closeAll()
	embed := func(texts []string) error {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		all, err := m.Embed(texts)
		for _, e := range all {
			if err := printLine(out, struct {
				Embedding []float32 `json:"embedding"`
			}{e}); err != nil {
				return err
			}
		}
		return err
	}
	if len(args) > 1 {
		return embed(args[1:])
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxPrompt)
	var texts []string
	for lines.Scan() {
		if texts = append(texts, lines.Text()); len(texts) == embedAtOnce {
			if err := embed(texts); err != nil {
				return err
			}
			texts = nil
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if len(texts) == 0 {
		return nil
	}
	return embed(texts)
}
