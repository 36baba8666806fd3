// The choice between CPU and GPU, in the fieldset #devices.

import { byId, reopened } from "./page.js";

const field = byId("devices");
field.innerHTML = `<legend>Device</legend>
<div class="row">
<label><input type="radio" name="device" value="cpu" checked> CPU</label>
<label><input type="radio" name="device" value="gpu" disabled> GPU</label>
</div>
<p id="gpu-hint" class="hint"></p>`;
const radio = (name) => field.querySelector(`[value=${name}]`);
radio("gpu").setAttribute("aria-describedby", "gpu-hint");

// device is the name of the chosen device.
export const device = () => field.querySelector(":checked").value;

// choose makes a device the chosen one, without a call of onDevice's functions.
export const choose = (name) => { radio(name).checked = true; };

// onDevice calls f when the choice changes.
export const onDevice = (f) => field.addEventListener("change", f);

// deviceHandlers handle the messages of page.Devices. Ready is called after the first.
export const deviceHandlers = (ready) => ({
  devices({ gpu, software, why }) {
    radio("gpu").disabled = !gpu;
    choose(gpu && !software ? "gpu" : "cpu");
    byId("gpu-hint").textContent = gpu
      ? gpu + (software ? ": it computes on the CPU, more slowly than the CPU itself." : "")
      : "There is no GPU: " + why;
    ready();
  },
  reopened(m) {
    choose(m.device);
    radio("gpu").disabled = m.device !== "gpu";
    reopened(m);
  },
});
