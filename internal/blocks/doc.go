// Package blocks decodes and encodes the block formats of ggml (blocks.go): runs of 32 to 256 numbers stored
// in a few bits each, with scales that a run shares. [Formats] is the table of them.
//
// Decoders give ggml's own values to the last bit. Products are rounded before they are added
// (the conversions to float32), because some processors would fuse the two.
//
// Source of the formats: ggml, https://github.com/ggml-org/ggml (MIT), ggml-common.h and
// ggml-quants.c.
package blocks
