import { alert, byId, connect, status } from "./page.js";
import { Chart, thin } from "./chart.js";
import { Pad } from "./pad.js";

const firstSteps = 300; // are trained when the page opens
const percent = (p, digits = 0) => (100 * p).toFixed(digits) + " %";

// Training

const loss = { color: "accent", points: [] };
const accuracy = { color: "second", points: [], right: true };
const chart = new Chart(byId("chart"), [loss, accuracy], "steps");
const reports = []; // for the table
let training = false;
let steps = { all: 0, cpu: 0, gpu: 0 };

function setTraining(on) {
  training = on;
  byId("train").textContent = on ? "Pause" : "Train";
}

function train(device, until) {
  alert("");
  setTraining(true);
  send("train", { device, until, rate: +byId("rate").value, batch: +byId("batch").value });
}

const selected = () => document.querySelector("[name=device]:checked").value;

function showReport(r) {
  setTraining(r.training);
  steps[r.device] += r.step - steps.all;
  steps.all = r.step;
  byId(r.device + "-steps").textContent = steps[r.device];
  if (r.speed) byId(r.device + "-speed").textContent = r.speed.toPrecision(3);
  loss.points.push([r.step, r.loss]);
  accuracy.points.push([r.step, r.accuracy]);
  reports.push(r);
  [loss.points, accuracy.points, reports].forEach((list) => thin(list));
  chart.draw();
  showTable();
  if (!r.training) {
    status(`Step ${r.step}: ${percent(r.accuracy, 1)} of the digits that were held out are recognised.`);
    byId("train").disabled = byId("reset").disabled = false;
  }
  classify(); // by what was learned
}

function reset() {
  setTraining(false);
  loss.points.length = accuracy.points.length = reports.length = 0;
  steps = { all: 0, cpu: 0, gpu: 0 };
  for (const device of ["cpu", "gpu"]) byId(device + "-steps").textContent = 0;
  chart.draw();
  showTable();
  classify();
  status("The network has random weights.");
}

// showTable fills the table with the newest reports while it is open.
function showTable() {
  if (!byId("numbers").open) return;
  byId("rows").replaceChildren(...reports.slice(-50).reverse().map((r) => {
    const row = document.createElement("tr");
    for (const text of [r.step, r.device.toUpperCase(), r.loss.toFixed(4), percent(r.accuracy, 1)]) row.insertCell().textContent = text;
    return row;
  }));
}

// Drawing

const bars = Array.from({ length: 10 }, (_, digit) => {
  const row = document.createElement("li");
  row.innerHTML = `<b>${digit}</b><span class="bar"><i></i></span><span class="value">–</span>`;
  byId("bars").append(row);
  return row;
});

let answered = true, changed = false;

// classify sends the drawing to the program, the next one only when it has answered.
function classify() {
  changed = true;
  if (!answered) return;
  [answered, changed] = [false, false];
  send("draw", pad.strokes);
}

function showClasses({ probabilities, image }) {
  answered = true;
  if (changed) classify();
  const best = probabilities.indexOf(Math.max(...probabilities)), drawn = image.some((p) => p > 0);
  bars.forEach((row, digit) => {
    const p = drawn ? probabilities[digit] : 0;
    row.classList.toggle("best", drawn && digit === best);
    row.querySelector("i").style.width = 100 * p + "%";
    row.querySelector(".value").textContent = drawn ? percent(p) : "–";
  });
  const answer = drawn ? `${best}, ${percent(probabilities[best])}` : "Nothing is drawn.";
  // Screen readers read each new text, so it changes when a line ends.
  if (!pad.down && byId("answer").textContent !== answer) byId("answer").textContent = answer;
  const g = byId("seen").getContext("2d"), pixels = g.createImageData(8, 8);
  image.forEach((p, i) => pixels.data.set([0, 0, 0, 255 * p], 4 * i));
  g.putImageData(pixels, 0, 0);
}

const pad = new Pad(byId("pad"), classify, (text) => { byId("pen").textContent = text; });

// The program

const send = connect("digits", {
  ready({ gpu, why }) {
    byId("gpu").disabled = !gpu;
    byId("gpu-why").textContent = gpu || "none: " + why;
    status("Learning for a moment, on the CPU…");
    train("cpu", firstSteps);
  },
  report: showReport,
  reset,
  classes: showClasses,
  recovered({ cause, step, device }) {
    alert(`The GPU failed (${cause}). Training goes on from step ${step}, on ${device === "gpu" ? "the GPU, which was opened again" : "the CPU"}.`);
    byId(device).checked = true;
  },
  error(text) {
    alert(text);
    answered = true;
    setTraining(false);
  },
});

byId("settings").onsubmit = (e) => {
  e.preventDefault();
  if (!training) {
    status("Training…");
    train(selected(), 0);
  } else {
    send("pause");
  }
};
// Settings that change while it trains hold from the next step.
byId("settings").onchange = () => training && train(selected(), 0);
byId("reset").onclick = () => send("reset", Math.floor(Math.random() * 2 ** 32));
byId("clear").onclick = () => pad.clear();
byId("numbers").ontoggle = showTable;
