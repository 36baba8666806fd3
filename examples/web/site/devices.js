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

// onDevice calls f when the choice changes.
export const onDevice = (f) => field.addEventListener("change", f);

// deviceHandlers are those of the messages of page.Devices. Ready is called after the first.
export const deviceHandlers = (ready) => ({
  devices({ gpu, software, why }) {
    radio("gpu").disabled = !gpu;
    radio(gpu && !software ? "gpu" : "cpu").checked = true;
    byId("gpu-hint").textContent = gpu
      ? gpu + (software ? ": it computes on the CPU, more slowly than the CPU itself." : "")
      : "There is no GPU: " + why.split("\n")[0];
    ready();
  },
  reopened(m) {
    radio(m.device).checked = true;
    radio("gpu").disabled = m.device !== "gpu";
    reopened(m);
  },
});
