package graph

// Draws are the keys that an RNG draws while a function is recorded.
type Draws struct {
	Words []*Node // Scalars, two for each key
	// Name returns the placeholder of a Scalar in the recorded graph.
	Name func(*Node) *Node
}

// Add notes the words of a key and returns their placeholders.
func (d *Draws) Add(words [2]*Node) [2]*Node {
	d.Words = append(d.Words, words[:]...)
	return [2]*Node{d.Name(words[0]), d.Name(words[1])}
}
