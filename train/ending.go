package train

import (
	"context"
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/internal/shape"
)

// ending says why a run ended, which report was best and where the run is saved.
func (r *runner[M, B]) ending(ctx context.Context, err error) string {
	var b strings.Builder
	done := shape.Count(r.Epoch, "epoch") + ", " + shape.Count(r.Step, "step")
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprintf(&b, "cancelled after %s", done)
	case err != nil:
		fmt.Fprintf(&b, "failed after %s: %v", done, err)
	case !r.stepped && r.isDone():
		fmt.Fprintf(&b, "nothing left to do: the run was done before, with %s; more Epochs or Steps go on", done)
	case !r.stepped:
		fmt.Fprintf(&b, "nothing left to do: Patience ended the run before, after %s", done)
	case !r.patient:
		fmt.Fprintf(&b, "ended after %s by Patience: %s without a better %q", done, shape.Count(r.Patience, "report"), r.Monitor)
	default:
		fmt.Fprintf(&b, "done: %s", done)
	}
	if best, failed := r.bestReport(); failed == nil && best >= 0 && r.Monitor != "" {
		name := strings.TrimPrefix(r.Monitor, "-")
		fmt.Fprintf(&b, "; best is report %d of %d, %s %.4f", best+1, len(r.History), name, r.History[best][name])
	}
	if r.Checkpoint != "" && r.saved {
		fmt.Fprintf(&b, "; saved in %s", r.Checkpoint)
		if err != nil {
			b.WriteString(", from which Resume goes on")
		}
	}
	return b.String()
}
