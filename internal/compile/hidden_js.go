package compile

// Programs for browsers compute all scores, and do not have the code that finds those that a mask hides.

func (l *loop) skipHidden() {}

type hider struct{}

func (l *loop) findHidden() *hider { return nil }
func (h *hider) isCausal() bool    { return false }
