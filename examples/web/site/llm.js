import { alert, byId, connect, status } from "./page.js";
import { choose, device, deviceHandlers, onDevice } from "./devices.js";

let writing = false;
let name, bytes; // of the file that was chosen last
let target; // the element that text is added to

const setWriting = (on) => {
  writing = on;
  byId("write").textContent = on ? "Stop" : "Write";
};

// add shows a text of somebody at the end of the transcript.
const add = (text, who) => {
  target = document.createElement("pre");
  target.className = "text " + who;
  target.textContent = text;
  byId("transcript").append(target);
};
const clear = () => byId("transcript").replaceChildren();
const show = () => { byId("transcript").scrollTop = byId("transcript").scrollHeight; };

const send = connect("llm", {
  ...deviceHandlers(() => { byId("file").disabled = false; status("Open a model."); }),
  device: choose,
  model({ context, chat }) {
    byId("size").textContent = `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
    byId("context").textContent = context ? context.toLocaleString("en") : "no limit";
    byId("kind").textContent = (chat ? "The model answers in a chat. " : "The model continues the prompt. ") +
      "At temperature 0 the most probable token is taken each time.";
    byId("write").disabled = byId("new").disabled = false;
    clear();
    status(`${name} is open.`);
    byId("prompt").focus();
  },
  begin({ prompt, chat }) {
    setWriting(true);
    if (chat) add(prompt, "user");
    add(chat ? "" : prompt, "model");
    target.ariaBusy = "true";
    show();
  },
  again() { target.textContent = ""; }, // after a loss of the GPU
  text(text) { target.textContent += text; show(); },
  end({ tokens, speed, why }) {
    setWriting(false);
    target.ariaBusy = "false";
    byId("tokens").textContent = tokens.toLocaleString("en");
    if (speed) byId("speed").textContent = speed.toFixed(speed < 10 ? 1 : 0);
    status({ stop: "The text is written.", length: "The text has its length.", stopped: "Stopped.", error: "" }[why]);
  },
});

byId("file").onchange = () => {
  const files = [...byId("file").files];
  if (!files.length) return;
  alert("");
  name = files[0].name;
  bytes = files.reduce((sum, f) => sum + f.size, 0);
  status(`Reading ${name}…`);
  send("open", { name, device: device() }, files);
};
onDevice(() => send("device", device()));
byId("new").onclick = () => { send("new"); clear(); };
byId("writing").onsubmit = (e) => {
  e.preventDefault();
  alert("");
  if (writing) return send("stop");
  status("Writing…");
  send("write", { prompt: byId("prompt").value, temperature: +byId("temperature").value, length: +byId("length").value });
  byId("prompt").value = "";
};
