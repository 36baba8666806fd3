import { alert, byId, connect, status } from "./page.js";
import { Chart, thin } from "./chart.js";
import { device, deviceHandlers } from "./devices.js";
import { Pad } from "./pad.js";

const firstSteps = 300; // are trained when the page opens
const untrained = "The network has random weights.";
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

let until = firstSteps; // the step at which training ends; 0 is never

function train() {
  alert("");
  setTraining(true);
  send("train", { device: device(), until, rate: +byId("rate").value, batch: +byId("batch").value });
}

function showReport(r) {
  if (!training) status("Training…"); // it was begun before a pause or reset was answered
  setTraining(true);
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
  classify(); // by what was learned
}

// showPause shows that training ended. It is given the newest report, if there is one.
function showPause(r) {
  setTraining(false);
  until = 0;
  byId("train").disabled = byId("reset").disabled = false;
  status(r ? `Step ${r.step}: ${percent(r.accuracy, 1)} of the held-out digits are recognised.` : untrained);
}

// reset clears what was learned. Message "paused" follows.
function reset() {
  loss.points.length = accuracy.points.length = reports.length = 0;
  steps = { all: 0, cpu: 0, gpu: 0 };
  for (const device of ["cpu", "gpu"]) byId(device + "-steps").textContent = 0;
  chart.draw();
  showTable();
  classify();
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
  ...deviceHandlers(() => { status("Learning for a moment…"); train(); }),
  report: showReport,
  paused: showPause,
  reset,
  classes: showClasses,
  error(text) {
    alert(text);
    answered = true;
  },
});

byId("settings").onsubmit = (e) => {
  e.preventDefault();
  if (!training) {
    status("Training…");
    train();
  } else {
    send("pause");
  }
};
// Settings that change while it trains hold from the next step.
byId("settings").onchange = () => training && train();
byId("reset").onclick = () => send("reset", Math.floor(Math.random() * 2 ** 32));
byId("clear").onclick = () => pad.clear();
byId("numbers").ontoggle = showTable;
