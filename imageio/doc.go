// Package imageio reads and writes images as tensors: uint8 of shape [h w c], rows from the top
// and samples from 0 to 255. One channel is gray; three are red, green and blue; the fourth is
// alpha, which is 0 where the image is transparent, and colors are not multiplied by it. Read
// file.go first.
//
// The layers of package nn take float32 of shape [n c h w]:
//
//	x := img.Permute(2, 0, 1).Unsqueeze(0).Cast(tensor.Float32).Div(255)
//
// and back, for an image of numbers from 0 to 1:
//
//	img = x.At(0).Permute(1, 2, 0).Mul(255).Round().Cast(tensor.Uint8)
//
// # Formats
//
// PNG, JPEG, GIF, BMP and TIFF are read and written, WebP is read. Samples of 16 bits lose their
// lower 8. Of a GIF the first frame is read, on a transparent image if it does not fill the
// image; it is exact when written if the image is gray or has at most 256 colors. JPEG is
// written with quality 90.
//
// Photographs of phones are stored as the sensor was held, with the EXIF orientation that turns
// them upright. Reading turns them, as browsers and OpenCV do. Package image does not:
// [FromImage] of its images gives the pixels as they are stored.
//
// A file that claims more pixels than the host has memory for is an error.
package imageio
