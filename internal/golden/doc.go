// Package golden holds tests against values that PyTorch computed.
package golden
