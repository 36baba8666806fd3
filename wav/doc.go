// Package wav reads and writes sound in WAV files as tensors: float32 of shape
// [channels samples], with samples from -1 to 1.
//
// Integers of 8, 16, 24 and 32 bits (PCM) and floating-point numbers of 32 and 64 bits are
// read and written. A PCM sample x of b bits is the number x/2^(b-1), so it is never quite
// 1; 32 bits are rounded to float32. A-law and μ-law are read. Compressed sound, such as
// MP3, is an error that names the encoding.
//
// The files may be RIFF, RF64 or BW64. If the size of the samples is unknown, as in the file of
// a recorder that was killed or writes to a pipe, or is more than the file has, the samples to
// the end of the file are read, as ffmpeg and libsndfile do.
package wav
