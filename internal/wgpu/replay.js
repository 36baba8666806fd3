// Runs the streams of commands that js_stream.go encodes. A call from Go costs as much as some
// ten calls here, so a stream has all calls of one submission.
//
// The arguments are a GPUDevice, the names of commands in the order of their codes, and a
// function of Go: tell(request) answers a request, tell(request, kind, message) refuses it.
// Requests lost and uncaught, which nobody made, are the loss of the device and errors that
// belong to no request.
(device, names, lost, uncaught, tell) => {
	"use strict";
	const queue = device.queue;
	const objects = []; // by handle
	let bytes, words; // two views of the memory that Go copies a stream to
	let at; // the index of the next word
	let encoder, pass; // of the submission being encoded

	const word = () => words[at++];
	const long = () => word() + word() * 2 ** 32;
	const object = () => objects[word()];
	const list = (read) => Array.from({ length: word() }, (_, i) => read(i));
	const data = () => {
		const size = word(), start = 4 * at;
		at += Math.ceil(size / 4);
		return bytes.subarray(start, start + size);
	};
	const text = new TextDecoder();

	const answer = (request, promise) => promise.then(
		() => tell(request),
		(e) => tell(request, e.reason ?? e.name, e.message));
	// scoped makes an object, and refuses the request if that causes an error of a kind.
	const scoped = (request, filter, make, explain = (e) => e.message) => {
		device.pushErrorScope(filter);
		const made = make();
		device.popErrorScope().then(
			async (e) => e ? tell(request, e.constructor.name, await explain(e, made)) : tell(request),
			() => tell(request)); // the device is lost, which is told separately
		return made;
	};
	// compileErrors is an error of a shader with the compiler's messages that it lacks.
	const compileErrors = async (e, module) => {
		const { messages } = await module.getCompilationInfo();
		return [e.message, ...messages
			.filter((m) => m.type === "error" && !e.message.includes(m.message))
			.map((m) => `${m.lineNum}:${m.linePos}: ${m.message}`)].join("\n");
	};
	const layout = (entries) => device.createBindGroupLayout({
		entries: entries.map((buffer, binding) => ({ binding, visibility: 4 /* compute */, buffer })),
	});
	const group = (layout, buffers) => device.createBindGroup({
		layout, entries: buffers.map((resource, binding) => ({ binding, resource })),
	});
	const encode = () => encoder ??= device.createCommandEncoder();
	const endPass = () => {
		pass?.end();
		pass = undefined;
	};

	const commands = {
		newBuffer() {
			const handle = word(), request = word(), size = long(), usage = word();
			objects[handle] = scoped(request, "out-of-memory", () => device.createBuffer({ size, usage }));
		},
		newLayout() {
			const handle = word(), request = word(), minBindingSize = word();
			const buffers = list(() => ({ type: word() ? "storage" : "read-only-storage" }));
			objects[handle] = scoped(request, "validation", () => {
				if (minBindingSize > 0) {
					buffers.push({ type: "uniform", hasDynamicOffset: true, minBindingSize });
				}
				const group = layout(buffers);
				return { group, pipeline: device.createPipelineLayout({ bindGroupLayouts: [group] }) };
			});
		},
		newPipeline() {
			const handle = word(), checked = word(), ready = word(), layout = object().pipeline;
			const code = text.decode(data());
			const module = scoped(checked, "validation", () => device.createShaderModule({ code }), compileErrors);
			const p = objects[handle] = {};
			answer(ready, device.createComputePipelineAsync({ layout, compute: { module, entryPoint: "main" } })
				.then((pipeline) => { p.pipeline = pipeline; }));
		},
		newQueries() {
			const handle = word(), request = word(), count = word();
			objects[handle] = scoped(request, "validation", () => device.createQuerySet({ type: "timestamp", count }));
		},
		newGroup() {
			const handle = word(), l = object();
			objects[handle] = group(l.group, list(() => ({ buffer: object(), size: long() })));
		},
		free() {
			const handle = word();
			objects[handle].destroy?.();
			objects[handle] = undefined;
		},
		write() { queue.writeBuffer(object(), long(), data()); },
		beginPass() {
			endPass();
			pass = encode().beginComputePass();
		},
		beginTimedPass() {
			endPass();
			const querySet = object(), beginningOfPassWriteIndex = word();
			const timestampWrites = { querySet, beginningOfPassWriteIndex, endOfPassWriteIndex: beginningOfPassWriteIndex + 1 };
			pass = encode().beginComputePass({ timestampWrites });
		},
		setPipeline() { pass.setPipeline(object().pipeline); },
		setGroup() { pass.setBindGroup(0, object()); },
		setGroupAt() { pass.setBindGroup(0, object(), [word()]); },
		dispatch() { pass.dispatchWorkgroups(word(), word(), word()); },
		copy() {
			endPass();
			encode().copyBufferToBuffer(object(), long(), object(), long(), long());
		},
		resolve() {
			endPass();
			encode().resolveQuerySet(object(), 0, word(), object(), 0);
		},
		submit() {
			endPass();
			queue.submit(encoder ? [encoder.finish()] : []);
			encoder = undefined;
			answer(word(), queue.onSubmittedWorkDone());
		},
		map() {
			const request = word();
			answer(request, object().mapAsync(1 /* read */, 0, long()));
		},
		unmap() { object().unmap(); },
	};
	const byCode = names.map((name) => commands[name]);

	device.lost.then((info) => tell(lost, info.reason, info.message));
	device.onuncapturederror = ({ error }) => tell(uncaught, error.constructor.name, error.message);

	return {
		device,
		// memory is where Go copies streams to, from now on.
		memory(size) {
			bytes = new Uint8Array(size);
			words = new Uint32Array(bytes.buffer);
			return bytes;
		},
		// run runs a stream, and returns what was thrown, if anything was.
		run(size) {
			try {
				for (at = 0; at < size / 4;) byCode[word()]();
			} catch (e) {
				return String(e);
			}
		},
		// mapped is the first bytes of a buffer that is mapped, undefined if it is no longer.
		mapped(handle, size) {
			try {
				return new Uint8Array(objects[handle].getMappedRange(0, size));
			} catch {}
		},
		close() {
			tell = () => {};
			device.destroy();
		},
	};
}
