// Gives Node the WebGPU of npm's webgpu in the folder TENSORKEN_NODE_MODULES, as browsers have it.
import { pathToFileURL } from "node:url";

const { create, globals } = await import(pathToFileURL(`${process.env.TENSORKEN_NODE_MODULES}/webgpu/index.js`));
Object.assign(globalThis, globals);
// The property keeps what create returns from being collected, which would crash Node.
Object.defineProperty(globalThis, "navigator", { value: { gpu: create([]) }, configurable: true });
