// Package imageio reads and writes images as tensors: uint8 of shape [h w c], with rows from the
// top and samples from 0 to 255. An image of one channel is gray; the channels of others are red,
// green and blue, and the fourth, if any, is alpha: 0 where the image is transparent. Colors are
// not premultiplied by alpha. Read file.go first.
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
// PNG, JPEG, GIF, BMP and TIFF are read and written, WebP is read. Colors of JPEG and WebP are made of
// luma and chroma as libjpeg and libwebp do. Go's package image makes the colors of JPEG in CMYK with
// subsampled chroma, and of an image that [FromImage] gets. Samples of 16 bits lose their
// lower 8. Only the first frame of a GIF is read; the rest of an image that it does not fill is
// transparent. Writing a GIF is exact if the image is gray or has at most 256 colors. JPEG is
// written with quality 90.
//
// Phones store photographs as the sensor was held, with an EXIF orientation for turning them
// upright. Reading turns them, as browsers and OpenCV do. Go's package image does not:
// [FromImage] of its images gives the pixels as they are stored.
//
// A file that claims more pixels than the host has memory for is an error.
package imageio
