import { alert, byId, connect, reopened, status } from "./page.js";

let gpu = false;
let rows = {}; // by operation and size

const scale = 3; // the longest bar is a factor of 10^3

// duration writes seconds with three digits.
function duration(s) {
  if (s === undefined) return "–";
  const [factor, unit] = s < 1e-3 ? [1e6, "µs"] : s < 1 ? [1e3, "ms"] : [1, "s"];
  return `${+(s * factor).toPrecision(3)} ${unit}`;
}

const ratio = (r) => (r.cpu && r.gpu ? r.cpu / r.gpu : undefined);

let running = false;
let first = false; // the page measures small matrices when it opens

function setRunning(on) {
  running = on;
  byId("run").textContent = on && !first ? "Stop" : "Run";
  byId("run").disabled = on && first;
}

function cell(tag, text) {
  const e = document.createElement(tag);
  e.textContent = text;
  return e;
}

// line returns the table's line and the bar of a row, which it makes at first.
function line(r) {
  if (r.line) return r;
  r.line = byId("times").tBodies[0].insertRow();
  const bar = document.createElement("div");
  bar.className = "ratio";
  bar.append(cell("span", `${r.op} ${r.n}²`), cell("i", ""), cell("b", ""));
  byId("bars").append(bar);
  r.bar = bar;
  return r;
}

function draw(row) {
  const r = line(row), x = ratio(r);
  const name = cell("th", r.op.replaceAll("_", "_\u200b")); // a line may end there
  name.scope = "row";
  r.line.replaceChildren(name, cell("td", `${r.n}²`), cell("td", duration(r.cpu)), cell("td", duration(r.gpu)),
    cell("td", x === undefined ? "–" : +x.toPrecision(3)));
  if (x === undefined) return;
  const part = Math.min(1, Math.abs(Math.log10(x)) / scale) / 2;
  const [track, label] = [r.bar.children[1], r.bar.children[2]];
  track.style.setProperty("--from", (x < 1 ? 0.5 - part : 0.5) * 100 + "%");
  track.style.setProperty("--to", (x < 1 ? 0.5 : 0.5 + part) * 100 + "%");
  track.className = x < 1 ? "slower" : "faster";
  label.textContent = x < 1 ? "1/" + (+(1 / x).toPrecision(2)) : +x.toPrecision(2) + "×";
}

const send = connect("shootout", {
  devices({ gpu: name, software, why }) {
    gpu = !!name;
    byId("gpu-hint").textContent = gpu
      ? "GPU: " + name + (software ? ", which computes on the CPU: its times say nothing about a GPU." : "")
      : "There is no GPU, so only the CPU is measured: " + why;
    first = true;
    status("A first look at small matrices…");
    measure([64], 50);
  },
  reopened(m) {
    gpu = m.device === "gpu";
    reopened(m);
  },
  row(r) {
    const key = r.op + r.n;
    const row = (rows[key] ??= { op: r.op, n: r.n });
    row[r.device] = r.seconds;
    draw(row);
    byId("progress").value = 1 - r.left / r.total;
  },
  done(all) {
    setRunning(false);
    status(first ? "These are small matrices: Run measures larger ones." : all ? "All is measured." : "Stopped.");
    first = false;
  },
  error(text) {
    alert(text);
    status("");
    setRunning(false);
    first = false;
  },
});

// measure begins a comparison.
function measure(sizes, milliseconds) {
  rows = {};
  byId("times").tBodies[0].replaceChildren();
  byId("bars").replaceChildren();
  byId("progress").value = 0;
  alert("");
  setRunning(true);
  send("run", { sizes, devices: gpu ? ["cpu", "gpu"] : ["cpu"], milliseconds });
}

byId("run").onclick = () => {
  if (running) {
    status("Stopping after this measurement…");
    return send("stop");
  }
  const sizes = [];
  for (let n = 64; n <= +byId("largest").value; n *= 2) sizes.push(n);
  status("Measuring…");
  measure(sizes, +byId("milliseconds").value);
};
