// A chart of lines in a canvas, in the page's colours.

const ticks = 4;

// nice returns a round step of a scale that has about as many steps as ticks.
function nice(range) {
  const rough = range / ticks, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((f) => f * power).find((step) => step >= rough) || rough;
}

// number writes a number in few characters.
const number = (x) => (Math.abs(x) >= 10000 ? (x / 1000).toFixed(0) + "k" : String(+x.toPrecision(3)));

// A Chart draws series, each a list of points [x, y], over one x axis. Series are
// {color, points, right}: color names a variable of style.css, and right puts its
// values, from 0 to 1, on an axis of percents at the right.
export class Chart {
  constructor(canvas, series, xLabel) {
    Object.assign(this, { canvas, series, xLabel, scheduled: false });
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  // draw draws the chart before the next frame.
  draw() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => { this.scheduled = false; this.paint(); });
  }

  paint() {
    const { canvas, series } = this, scale = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height) return;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const g = canvas.getContext("2d"), style = getComputedStyle(canvas);
    // Canvases have no var(): an element's computed colour is what it stands for.
    const color = (name) => { canvas.style.color = `var(--${name})`; return style.color; };
    g.scale(scale, scale);
    g.font = "12px " + style.fontFamily;
    const left = 44, right = width - (series.some((s) => s.right) ? 48 : 20), top = 10, bottom = height - 34;

    const all = (test) => series.filter(test).flatMap((s) => s.points);
    const xs = series.flatMap((s) => s.points.map((p) => p[0])), ys = all((s) => !s.right).map((p) => p[1]);
    const x0 = xs.reduce((a, b) => Math.min(a, b), 0), x1 = xs.reduce((a, b) => Math.max(a, b), x0 + 1);
    const y1 = ys.reduce((a, b) => Math.max(a, b), 1e-9);
    const X = (x) => left + ((x - x0) / (x1 - x0)) * (right - left);
    const Y = (y, s) => bottom - (y / (s?.right ? 1 : y1 * 1.05)) * (bottom - top);

    const line = color("line"), muted = color("muted");
    g.lineWidth = 1;
    g.textBaseline = "middle";
    for (let y = 0, step = nice(y1 * 1.05); y <= y1 * 1.05; y += step) {
      g.strokeStyle = line;
      g.beginPath(); g.moveTo(left, Y(y)); g.lineTo(right, Y(y)); g.stroke();
      g.fillStyle = muted;
      g.textAlign = "right";
      g.fillText(number(y), left - 6, Y(y));
    }
    if (series.some((s) => s.right)) {
      g.textAlign = "left";
      for (const y of [0, 0.5, 1]) g.fillText(100 * y + " %", right + 6, Y(y, { right: true }));
    }
    g.textBaseline = "top";
    g.textAlign = "center";
    for (let x = x0, step = nice(x1 - x0); x <= x1; x += step) g.fillText(number(x), X(x), bottom + 5);
    g.textAlign = "right";
    g.fillText(this.xLabel, right, bottom + 19);

    g.lineWidth = 2;
    g.lineJoin = "round";
    for (const s of series) {
      g.strokeStyle = g.fillStyle = color(s.color);
      g.beginPath();
      s.points.forEach(([x, y], i) => (i ? g.lineTo(X(x), Y(y, s)) : g.moveTo(X(x), Y(y, s))));
      g.stroke();
      if (s.points.length === 1) g.fillRect(X(s.points[0][0]) - 2, Y(s.points[0][1], s) - 2, 4, 4);
    }
    canvas.style.color = "";
  }
}

// thin halves a list of points once it has more than most, so that a long run takes no more
// memory than a short one.
export function thin(points, most = 400) {
  if (points.length > most) points.splice(0, points.length, ...points.filter((_, i) => i % 2 === 1));
}
