import { alert, byId, connect, status } from "./page.js";
import { Chart, thin } from "./chart.js";
import { device, deviceHandlers, onDevice } from "./devices.js";

const loss = { name: "loss", color: "accent", points: [] };
const chart = new Chart(byId("chart"), [loss], "steps");
let training = false;
let target; // the element that characters are added to
let learned; // the text and size of the model, as one string

const show = (on) => {
  training = on;
  byId("pause").disabled = !on;
  byId("train").disabled = on;
};

const send = connect("gpt", {
  text(text) { byId("text").value = text; },
  ...deviceHandlers(() => { show(false); status("Ready."); }),
  model({ parameters, vocabulary, tokens }) {
    byId("parameters").textContent = parameters.toLocaleString("en");
    status(`The text has ${tokens.toLocaleString("en")} characters, ${vocabulary} of them different.`);
    loss.points.length = 0;
    byId("samples").replaceChildren();
  },
  report(r) {
    byId("step").textContent = r.step.toLocaleString("en");
    byId("loss").textContent = r.loss.toFixed(3);
    byId("speed").textContent = Math.round(r.speed).toLocaleString("en");
    loss.points.push([r.step, r.loss]);
    thin(loss.points);
    chart.draw();
    byId("write").disabled = false;
    if (training && !r.training) status(`Paused at step ${r.step}, loss ${r.loss.toFixed(3)}.`);
    show(r.training);
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
  end() {
    target.ariaBusy = "false";
    if (target === byId("written")) status("The text is written.");
  },
  error(text) {
    alert(text);
    show(false);
  },
});

const train = () => {
  alert("");
  const task = { text: byId("text").value, size: byId("size").value, device: device() };
  const key = task.size + task.text;
  status(key === learned ? "Training goes on." : "Training starts.");
  learned = key;
  show(true);
  send("train", task);
};
byId("train").onclick = train;
byId("pause").onclick = () => send("pause");
onDevice(() => { if (training) train(); });
byId("writing").onsubmit = (e) => {
  e.preventDefault();
  alert("");
  send("write", {
    prompt: byId("prompt").value, temperature: +byId("temperature").value, topK: +byId("top-k").value, length: +byId("length").value,
  });
};
