// A Pad is a canvas to draw lines on, with a pointer or with keys. Its strokes are lists of
// points [x, y], from 0 to 1.
export class Pad {
  // changed is called after each change; say is given what a screen reader says of the pen.
  constructor(canvas, changed, say) {
    Object.assign(this, { canvas, changed, say, strokes: [], down: false, pointer: null, pen: [0.5, 0.2], keyed: false });
    canvas.addEventListener("pointerdown", (e) => this.start(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => this.lift(e));
    canvas.addEventListener("keydown", (e) => this.key(e));
    for (const event of ["focus", "blur"]) canvas.addEventListener(event, () => this.paint());
    new ResizeObserver(() => this.paint()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
  }

  clear() {
    this.strokes = [];
    this.down = false;
    this.update();
  }

  update() {
    this.paint();
    this.changed();
  }

  start(e) {
    if (e.button > 0 || this.pointer !== null) return; // one finger draws
    this.keyed = false;
    this.pointer = e.pointerId;
    this.canvas.setPointerCapture(e.pointerId);
    this.down = true;
    this.strokes.push([this.at(e)]);
    this.update();
  }

  move(e) {
    if (!this.down || this.keyed || e.pointerId !== this.pointer) return;
    const stroke = this.strokes.at(-1), events = e.getCoalescedEvents?.() ?? [];
    for (const event of events.length ? events : [e]) {
      const [x, y] = this.at(event), [x0, y0] = stroke.at(-1);
      if (Math.hypot(x - x0, y - y0) > 0.01) stroke.push([x, y]);
    }
    this.update();
  }

  lift(e) {
    if (e.pointerId !== this.pointer) return;
    this.pointer = null;
    if (!this.down) return;
    this.down = false;
    this.update();
  }

  at(e) {
    const r = this.canvas.getBoundingClientRect();
    return [(e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height].map((v) => Math.min(Math.max(v, 0), 1));
  }

  key(e) {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key] ?? [0, 0];
    if (dx || dy) {
      this.pen = [this.pen[0] + dx / 16, this.pen[1] + dy / 16].map((v) => Math.min(Math.max(v, 1 / 16), 15 / 16));
      if (this.down) this.strokes.at(-1).push(this.pen);
    } else if (e.key === " ") {
      this.down = !this.down;
      if (this.down) this.strokes.push([this.pen]);
    } else if (e.key === "Backspace" || e.key === "Delete") {
      this.keyed = true;
      e.preventDefault();
      this.say("Cleared.");
      return this.clear();
    } else {
      return;
    }
    this.keyed = true;
    e.preventDefault();
    const [column, row] = this.pen.map((v) => Math.round(16 * v));
    this.say(`Column ${column}, row ${row} of 15, pen ${this.down ? "down" : "up"}.`);
    this.update();
  }

  paint() {
    const { canvas, strokes } = this, side = Math.round(canvas.clientWidth * (devicePixelRatio || 1));
    canvas.width = canvas.height = side; // clears it
    const g = canvas.getContext("2d"), style = getComputedStyle(canvas);
    g.strokeStyle = g.fillStyle = style.color;
    g.lineWidth = side / 12;
    g.lineCap = g.lineJoin = "round";
    for (const stroke of strokes) {
      g.beginPath();
      if (stroke.length === 1) { // a line without length is not painted
        g.arc(stroke[0][0] * side, stroke[0][1] * side, side / 24, 0, 2 * Math.PI);
        g.fill();
      } else {
        stroke.forEach(([x, y]) => g.lineTo(x * side, y * side));
        g.stroke();
      }
    }
    if (this.keyed && document.activeElement === canvas) {
      g.strokeStyle = style.outlineColor;
      g.lineWidth = side / 100;
      g.beginPath();
      g.arc(this.pen[0] * side, this.pen[1] * side, side / 20, 0, 2 * Math.PI);
      this.down ? g.fill() : g.stroke();
    }
  }
}
