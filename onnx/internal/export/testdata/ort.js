// node ort.js FOLDER: runs the model of each folder in it by onnxruntime-node on the inputs in io.json, and writes
// the outputs there, or the error.
const fs = require('fs'), path = require('path'), ort = require('onnxruntime-node');

const arrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array,
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
};

function tensor({type, dims, data}) {
  const bytes = Buffer.from(data, 'base64');
  return new ort.Tensor(type, new arrays[type](new Uint8Array(bytes).buffer), dims);
}

function plain({type, dims, data}) {
  return {type, dims, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')};
}

async function run(folder) {
  const file = path.join(folder, 'io.json'), io = JSON.parse(fs.readFileSync(file)), feeds = {};
  try {
    const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'), {intraOpNumThreads: 1, logSeverityLevel: 3});
    for (const name of session.inputNames) feeds[name] = tensor(io.inputs[name]);
    io.outputs = {};
    for (const [name, t] of Object.entries(await session.run(feeds))) io.outputs[name] = plain(t);
    await session.release();
  } catch (e) {
    io.error = String(e);
  }
  fs.writeFileSync(file, JSON.stringify(io));
}

(async () => {
  for (const name of fs.readdirSync(process.argv[2])) await run(path.join(process.argv[2], name));
})();
