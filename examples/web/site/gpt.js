import { alert, byId, connect, status } from "./page.js";
import { Chart, thin } from "./chart.js";
import { choose, device, deviceHandlers, onDevice } from "./devices.js";

const loss = { color: "accent", points: [] };
const chart = new Chart(byId("chart"), [loss], "steps");
let training = false;
let target; // the element that characters are added to

const setTraining = (on) => {
  training = on;
  byId("train").textContent = on ? "Pause" : "Train";
};

const send = connect("gpt", {
  text(text) { byId("text").value = text; },
  ...deviceHandlers(() => { byId("train").disabled = false; status("Ready."); }),
  device: choose,
  model({ parameters, vocabulary, tokens }) {
    byId("parameters").textContent = parameters.toLocaleString("en");
    status(`The text has ${tokens.toLocaleString("en")} characters, ${vocabulary} of them different.`);
    loss.points.length = 0;
    byId("samples").replaceChildren();
  },
  report(r) {
    setTraining(true);
    byId("step").textContent = r.step.toLocaleString("en");
    byId("loss").textContent = r.loss.toFixed(3);
    if (r.speed) byId("speed").textContent = Math.round(r.speed).toLocaleString("en");
    while (loss.points.at(-1)?.[0] >= r.step) loss.points.pop(); // after a loss of the GPU
    loss.points.push([r.step, r.loss]);
    thin(loss.points);
    chart.draw();
    byId("write").disabled = false;
  },
  paused(step) {
    setTraining(false);
    status(step ? `Paused at step ${step}.` : "");
  },
  begin({ kind, step, prompt }) {
    if (kind === "written") {
      target = byId("written");
    } else {
      const title = document.createElement("h3");
      title.textContent = `Step ${step}`;
      target = document.createElement("pre");
      target.className = "text";
      byId("samples").prepend(title, target);
      while (byId("samples").children.length > 40) byId("samples").lastChild.remove();
    }
    target.textContent = prompt;
    target.ariaBusy = "true";
  },
  character(c) { target.textContent += c; },
  end(complete) {
    target.ariaBusy = "false";
    if (complete && target === byId("written")) status("The text is written.");
  },
});

byId("train").onclick = () => {
  alert("");
  if (training) return send("pause");
  status("Training…");
  setTraining(true);
  send("train", { text: byId("text").value, size: byId("size").value, device: device() });
};
onDevice(() => { if (training) send("device", device()); });
byId("writing").onsubmit = (e) => {
  e.preventDefault();
  alert("");
  send("write", {
    prompt: byId("prompt").value, temperature: +byId("temperature").value, topK: +byId("top-k").value, length: +byId("length").value,
  });
};
