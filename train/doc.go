// Package train has a training loop that shows itself, and measures of how
// good predictions are.
package train
