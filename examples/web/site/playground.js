import { alert, byId, connect, status } from "./page.js";
import { device, deviceHandlers, onDevice } from "./devices.js";

let examples = [];

function element(tag, text, properties) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

const block = (text, label) => {
  const e = element("pre", text, { className: "text", tabIndex: 0 });
  e.role = "region";
  e.ariaLabel = label;
  return e;
};

// detail is text that opens.
function detail(title, text) {
  const e = document.createElement("details");
  e.append(element("summary", title), block(text, title));
  return e;
}

const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

const send = connect("playground", {
  examples(list) {
    examples = list;
    byId("examples").replaceChildren(...list.map((x, i) => element("option", x.name, { value: i })));
    byId("source").value = list[0].source;
  },
  ...deviceHandlers(() => { byId("run").disabled = false; run(); }),
  answer({ results, plan, kernels }) {
    byId("results").replaceChildren(...results.flatMap((r) => [element("h3", `${r.name}: ${r.type}`), block(r.value, r.name)]));
    byId("plan").textContent = plan;
    byId("kernels").replaceChildren(...(kernels ?? []).flatMap((k, i) => [
      element("h3", `Kernel ${i + 1}`), detail("The kernel, as the compiler makes it", k.text),
      ...k.shaders.map((s, j) => detail(k.shaders.length > 1 ? `WGSL of pass ${j + 1}` : "WGSL", s)),
    ]));
    status(`Done: ${plural(kernels?.length ?? 0, "kernel")}.`);
  },
  error(text) {
    status("");
    alert(text);
    for (const id of ["results", "kernels"]) byId(id).replaceChildren();
    byId("plan").textContent = "";
  },
});

function run() {
  alert("");
  status("Running…");
  send("run", { source: byId("source").value, device: device(), gradient: byId("gradient").checked });
}

byId("lines").onsubmit = (e) => {
  e.preventDefault();
  run();
};
byId("source").onkeydown = (e) => {
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) run();
};
byId("gradient").onchange = run;
onDevice(run);
byId("examples").onchange = () => {
  byId("source").value = examples[byId("examples").value].source;
  run();
};
