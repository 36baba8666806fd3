import { alert, byId, connect, status } from "./page.js";
import { device, deviceHandlers } from "./devices.js";
import { pixels } from "./image.js";

// What an image's samples, from 0 to 1, become: (x - mean) / deviation.
const scales = {
  "as ImageNet's": { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] },
  "from 0 to 1": { mean: [0, 0, 0], std: [1, 1, 1] },
  "from -1 to 1": { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] },
  "from 0 to 255": { mean: [0, 0, 0], std: [1 / 255, 1 / 255, 1 / 255] },
};
const fits = { crop: "its middle", pad: "all of it, on gray", stretch: "stretched" };

let name = ""; // of the model that is open
let rows = []; // of inputs: {input, kind, shape, text, file, scale, fit}
let names = []; // of classes

const make = (tag, properties, ...children) => {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
};
const choice = (label, options, value) => {
  const e = make("select", { ariaLabel: label }, ...Object.entries(options).map(([value, text]) => make("option", { value }, text)));
  e.value = value;
  return e;
};
const table = (heads, lines) => make("table", {},
  make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))),
  make("tbody", {}, ...lines.map((cells) => make("tr", {}, ...cells.map((c) => make("td", {}, String(c)))))));
const count = (n) => n < 1e4 ? String(n) : n < 1e7 ? `${+(n / 1e3).toPrecision(3)} k` : n < 1e10 ? `${+(n / 1e6).toPrecision(3)} M` : `${+(n / 1e9).toPrecision(3)} G`;

// row makes the controls of an input.
function row(input) {
  const kinds = { random: "random numbers", numbers: input.type === "string" ? "lines of text" : "numbers", file: "a .npy file" };
  if (input.layout) kinds.image = "an image";
  const r = {
    input,
    kind: choice(`${input.name}: from`, kinds, input.layout ? "image" : input.whole || input.type === "string" ? "numbers" : "random"),
    shape: make("input", { type: "text", value: input.shape, ariaLabel: `${input.name}: shape`, spellcheck: false }),
    text: make("textarea", { value: input.whole ? "1" : "", ariaLabel: `${input.name}: elements`, rows: 2, className: "short" }),
    file: make("input", { type: "file", ariaLabel: `${input.name}: file` }),
    scale: choice(`${input.name}: samples`, Object.fromEntries(Object.keys(scales).map((k) => [k, "samples " + k])), Object.keys(scales)[0]),
    fit: choice(`${input.name}: fit`, fits, "crop"),
  };
  const show = () => {
    const kind = r.kind.value;
    r.shape.hidden = kind === "file";
    r.text.hidden = kind !== "numbers";
    r.file.hidden = kind !== "file" && kind !== "image";
    r.scale.hidden = r.fit.hidden = kind !== "image";
    r.file.accept = kind === "image" ? "image/*" : ".npy";
  };
  r.kind.onchange = show;
  show();
  r.element = make("fieldset", {}, make("legend", {}, input.text),
    make("div", { className: "row" }, r.kind, r.shape, r.scale, r.fit, r.file, r.text));
  return r;
}

const send = connect("onnx", {
  ...deviceHandlers(() => { byId("file").disabled = false; status("Open a model."); }),
  model({ producer, opset, params, inputs, outputs, operators }) {
    byId("params").textContent = count(params);
    byId("opset").textContent = opset || "–";
    byId("producer").textContent = producer || "–";
    byId("signature").replaceChildren(...outputs.map((o) => make("li", {}, "result ", o)));
    rows = inputs.map(row);
    byId("inputs").replaceChildren(...rows.map((r) => r.element));
    const missing = operators.filter((o) => o.missing);
    byId("operators").replaceChildren(table(["Operator", "Version", "Nodes", "Missing"], operators.map((o) => [o.op, o.opset, o.nodes, o.missing])));
    byId("nodes").open = false;
    byId("node-table").replaceChildren();
    byId("results").replaceChildren();
    for (const id of ["ran-on", "first", "later"]) byId(id).textContent = "–";
    byId("run").disabled = missing.length > 0;
    status(missing.length ? `${name} is open, and cannot run: ${missing.length} of its operators are missing.` : `${name} is open.`);
  },
  nodes(list) {
    byId("node-table").replaceChildren(table(["Node", "Operator", "Results", "Parameters", "Operations"],
      list.map((n) => [n.name, n.op, n.results.join(", "), count(n.params), count(n.flops)])));
  },
  results(list) {
    byId("results").replaceChildren(...list.flatMap((r) => [
      make("h3", {}, `${r.name} ${r.type}`), ...(r.range ? [make("p", { className: "hint" }, r.range)] : []),
      ...(r.top.length ? [top(r.top)] : []), ...(r.map ? [heat(r.map, r.name)] : []), text(r),
    ]));
    status("Running again, to measure…");
  },
  times({ device, first, later, runs }) {
    byId("ran-on").textContent = device.toUpperCase();
    byId("first").textContent = first.toFixed(1);
    byId("later").textContent = runs ? later.toFixed(1) : "–";
    status(`Done: ${runs + 1} runs.`);
  },
  error(message) { status(""); alert(message); },
});

const top = (list) => make("ol", { className: "bars" }, ...list.map((c, i) => make("li", { className: i ? "named" : "named best" },
  make("b", {}, names[c.class] ?? `class ${c.class}`),
  make("span", { className: "bar" }, make("i", { style: `width: ${100 * c.probability}%` })),
  make("span", { className: "value" }, `${(100 * c.probability).toFixed(1)} %`))));

const text = (r) => {
  const e = make("pre", { className: "text", tabIndex: 0, role: "region", ariaLabel: r.name }, r.text);
  return make("details", { open: !r.top.length && !r.map }, make("summary", {}, "Elements"), e);
};

// heat draws levels from blue to yellow.
function heat({ height, width, levels }, name) {
  const e = make("canvas", { width, height, className: "heat", role: "img", ariaLabel: `${name}, ${height} by ${width}, from dark to bright` });
  const image = new ImageData(width, height);
  levels.forEach((l, i) => image.data.set([l, Math.round(l * 0.8), Math.round(90 + l * (l < 128 ? 0.5 : -0.35)), 255], 4 * i));
  e.getContext("2d").putImageData(image, 0, 0);
  return e;
}

// read opens the files of a model.
function read(files) {
  const main = files.find((f) => f.name.endsWith(".onnx"));
  if (!main) return alert("Choose an .onnx file.");
  alert("");
  name = main.name;
  const bytes = files.reduce((sum, f) => sum + f.size, 0);
  byId("size").textContent = `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
  status(`Reading ${name}…`);
  send("open", name, files);
}

// give puts a dropped file into the first input that takes it.
function give(file) {
  const kind = file.name.endsWith(".npy") ? "file" : "image";
  const r = rows.find((r) => [...r.kind.options].some((o) => o.value === kind));
  if (!r) return alert(`No input of the model takes ${file.name}.`);
  r.kind.value = kind;
  r.kind.onchange();
  const list = new DataTransfer();
  list.items.add(file);
  r.file.files = list.files;
}

byId("file").onchange = () => { if (byId("file").files.length) read([...byId("file").files]); };
addEventListener("dragover", (e) => e.preventDefault());
addEventListener("drop", (e) => {
  e.preventDefault();
  const files = [...e.dataTransfer.files];
  if (byId("file").disabled || !files.length) return;
  if (files.some((f) => f.name.endsWith(".onnx"))) read(files);
  else give(files[0]);
});
byId("nodes").ontoggle = () => { if (byId("nodes").open && name && !byId("node-table").firstChild) send("nodes"); };
byId("labels").onchange = async () => {
  names = (await byId("labels").files[0]?.text() ?? "").split(/\r?\n/);
  status("The names are those of the next run.");
};

byId("running").onsubmit = async (e) => {
  e.preventDefault();
  alert("");
  const files = [];
  try {
    const inputs = await Promise.all(rows.map(async (r, i) => {
      const kind = r.kind.value;
      const in_ = { name: r.input.name, kind, shape: r.shape.value, text: r.text.value, ...scales[r.scale.value] };
      if (kind !== "file" && kind !== "image") return in_;
      const chosen = r.file.files[0];
      if (!chosen) throw new Error(`Choose a file for the input ${r.input.name}.`);
      in_.text = kind + i; // the program opens it by this name
      const data = kind === "file" ? chosen : await pixels(chosen, r.shape.value, r.fit.value);
      files.push(new File([data], in_.text));
      return in_;
    }));
    status("Running…");
    send("run", { device: device(), inputs }, files);
  } catch (e) {
    alert(e.message);
  }
};
