// Package train provides a training loop that shows its progress, and metrics of
// predictions.
package train
