// A worker that runs the Go program NAME.wasm, for "worker.js?NAME". The program receives and
// posts messages itself: see internal/page.
"use strict";
importScripts("wasm_exec.js", "files.js");

async function start() {
  const go = new Go();
  // Methods called by reflection put addresses of code where the collector expects pointers, and
  // in WebAssembly both have the same range (as in golang.org/issue/80472): it ignores them.
  go.env.GODEBUG = "invalidptr=0";
  const response = await fetch(location.search.slice(1) + ".wasm");
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  const { instance } = await WebAssembly.instantiateStreaming(response, go.importObject).catch(async (e) => {
    if (!(e instanceof TypeError) || response.bodyUsed) throw e; // else the server did not send application/wasm
    return WebAssembly.instantiate(await response.arrayBuffer(), go.importObject);
  });
  await go.run(instance);
  throw new Error("the program ended");
}

start().catch((e) => postMessage({ name: "crash", value: String(e.message || e) }));
