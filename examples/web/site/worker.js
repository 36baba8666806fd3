// A worker that runs the Go program NAME.wasm, for "worker.js?NAME". The program receives and
// posts messages itself: see internal/page.
"use strict";
importScripts("wasm_exec.js");

const post = (name, value) => postMessage(JSON.stringify({ name, value }));

async function start() {
  const go = new Go();
  const program = fetch(location.search.slice(1) + ".wasm");
  const { instance } = await WebAssembly.instantiateStreaming(program, go.importObject);
  await go.run(instance);
  throw new Error("the program ended");
}

start().catch((e) => post("crash", String(e.message || e)));
