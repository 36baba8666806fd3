// What all pages with a program share: the worker, its messages, and lines of status.

// byId returns the element with an id.
export const byId = (id) => document.getElementById(id);

// status shows what the program does, which screen readers read when they are idle.
export function status(text) { byId("status").textContent = text; }

// alert shows a line of what went wrong, which screen readers read at once; "" hides it.
export function alert(text) { byId("alert").textContent = text; }

// reopened handles the message that the GPU failed.
export function reopened({ device, cause }) {
  alert(`The GPU failed: ${cause}. ` + (device === "gpu" ? "It was opened again." : "The CPU is used instead."));
}

// connect starts the program NAME.wasm in a worker. Handlers has a function for each name of
// the messages that the program sends. The result sends messages to the program; those sent
// before it is ready wait. Files go with a message: see files.js.
export function connect(name, handlers) {
  if (typeof WebAssembly === "undefined" || typeof Worker === "undefined") {
    alert("This browser has no WebAssembly or no workers, which the program needs.");
    return () => {};
  }
  const worker = new Worker("worker.js?" + name, { name });
  let waiting = [];
  const post = (m) => worker.postMessage(m);
  const all = {
    open() { waiting.forEach(post); waiting = null; },
    error: alert,
    reopened,
    crash(text) { status(""); alert("The program stopped: " + text + ". Reload the page to start it again."); },
    ...handlers,
  };
  worker.onmessage = ({ data: { name, value } }) => all[name](value);
  worker.onerror = (e) => all.crash(e.message || "the worker could not be loaded");
  return (name, value, files) => (waiting ? waiting.push({ name, value, files }) : post({ name, value, files }));
}
