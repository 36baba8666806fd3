// Gives Node the WebGPU of npm's webgpu in the folder TENSORKEN_NODE_MODULES, as browsers have it.
import { pathToFileURL } from "node:url";

// While work is under way npm's webgpu looks for its end in one setImmediate after the other, and
// so takes the core that compiles shaders. After some it waits for a millisecond here.
const immediate = globalThis.setImmediate;
let polls = 0, again;
globalThis.setImmediate = (f, ...args) => {
	again = true;
	const poll = () => {
		again = false;
		f(...args);
		if (!again) polls = 0;
	};
	return polls++ < 20 ? immediate(poll) : setTimeout(poll, 1);
};

const { create, globals } = await import(pathToFileURL(`${process.env.TENSORKEN_NODE_MODULES}/webgpu/index.js`));
Object.assign(globalThis, globals);
// The property keeps what create returns from being collected, which would crash Node.
Object.defineProperty(globalThis, "navigator", { value: { gpu: create([]) }, configurable: true });
