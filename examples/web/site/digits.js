import { byId, connect, status } from "./page.js";
import { Chart, thin } from "./chart.js";

const loss = { name: "loss", color: "accent", points: [] };
const chart = new Chart(byId("chart"), [loss], "steps");

const send = connect("digits", {
  progress({ step, loss: value }) {
    status(`Step ${step}, loss ${value.toFixed(4)}`);
    loss.points.push([step, value]);
    thin(loss.points);
    chart.draw();
  },
});
byId("start").onclick = () => send("train");
status("Ready.");
