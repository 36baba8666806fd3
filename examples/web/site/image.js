// An image of the visitor as the input of a model.

const gray = "rgb(114 114 114)"; // beside an image that is padded, as detectors of the YOLO family have it

// pixels returns the red, green and blue of an image's pixels, row by row, fitted to a shape: lengths with spaces
// between them, of which the last two, or the two before the last, are height and width.
export async function pixels(file, shape, fit) {
  const n = shape.trim().split(/\s+/).map(Number);
  const [height, width] = n[3] === 3 || n[3] === 1 ? n.slice(1) : n.slice(2);
  if (n.length !== 4 || !(height >= 1 && width >= 1 && height <= 8192 && width <= 8192)) {
    throw new Error(`The shape is ${shape}: an image wants 1 3 height width, or 1 height width 3.`);
  }
  const image = await createImageBitmap(file).catch(() => { throw new Error(`The browser cannot read ${file.name}.`); });
  const canvas = new OffscreenCanvas(width, height);
  const c = canvas.getContext("2d", { willReadFrequently: true });
  c.imageSmoothingQuality = "high";
  c.fillStyle = gray;
  c.fillRect(0, 0, width, height);
  const x = width / image.width, y = height / image.height;
  const scale = { crop: [Math.max(x, y), Math.max(x, y)], pad: [Math.min(x, y), Math.min(x, y)], stretch: [x, y] }[fit];
  const w = image.width * scale[0], h = image.height * scale[1];
  c.drawImage(image, (width - w) / 2, (height - h) / 2, w, h);
  const rgba = c.getImageData(0, 0, width, height).data;
  const rgb = new Uint8Array(3 * width * height);
  for (let i = 0, j = 0; i < rgba.length; i += 4) {
    rgb[j++] = rgba[i];
    rgb[j++] = rgba[i + 1];
    rgb[j++] = rgba[i + 2];
  }
  return rgb;
}
