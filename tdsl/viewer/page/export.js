// The drawing as a file: SVG from the same calls that paint the canvas, PNG from a larger canvas; and as a printed page.

const SVG_SPACE = ["http", "://www.w3.org/2000/svg"].join("");
const PNG_PIXELS = 4000; // the longer side of a PNG at most

// Takes the calls of a canvas and writes SVG. It knows what the drawing uses, no more; coordinates are those of the scene.
class SvgContext {
  constructor() {
    this.out = [];
    this.path = [];
    this.dash = [];
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "", textAlign: "left" });
  }

  newPath() {
    return new SvgPath();
  }

  setTransform() {}
  save() {}
  restore() {}

  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.current = new SvgPath();
  }

  fillRect(x, y, w, h) {
    this.out.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" fill="${quoted(this.fillStyle)}"${this.alpha("fill")}/>`);
  }

  fill() {
    this.out.push(`<path d="${this.current.d.join("")}" fill="${quoted(this.fillStyle)}"${this.alpha("fill")}/>`);
  }

  stroke(path = this.current) {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.out.push(`<path d="${path.d.join("")}" fill="none" stroke="${quoted(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"${this.alpha("stroke")}${dash}/>`);
  }

  fillText(words, x, y) {
    const [, weight, size] = /^(\S*) ?([\d.]+)px/.exec(this.font) ?? ["", "", "12"];
    const anchor = { center: "middle", right: "end" }[this.textAlign] ?? "start";
    this.out.push(`<text x="${short(x)}" y="${short(y)}" font-size="${short(Number(size))}"${weight ? ` font-weight="${quoted(weight)}"` : ""} text-anchor="${anchor}" fill="${quoted(this.fillStyle)}">${quoted(words)}</text>`);
  }

  alpha(what) {
    return this.globalAlpha < 1 ? ` ${what}-opacity="${short(this.globalAlpha)}"` : "";
  }
}

class SvgPath {
  constructor() {
    this.d = [];
  }

  add(letter, numbers) {
    this.d.push(letter + numbers.map(short).join(" "));
  }

  moveTo(...at) {
    this.add("M", at);
  }

  lineTo(...at) {
    this.add("L", at);
  }

  bezierCurveTo(...at) {
    this.add("C", at);
  }

  quadraticCurveTo(...at) {
    this.add("Q", at);
  }

  rect(x, y, w, h) {
    this.d.push(`M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`);
  }

  roundRect(x, y, w, h, radius) {
    const r = Math.min(radius, w / 2, h / 2);
    this.d.push(`M${short(x + r)} ${short(y)}h${short(w - 2 * r)}a${r} ${r} 0 0 1 ${r} ${r}v${short(h - 2 * r)}a${r} ${r} 0 0 1 ${-r} ${r}h${short(2 * r - w)}a${r} ${r} 0 0 1 ${-r} ${-r}v${short(2 * r - h)}a${r} ${r} 0 0 1 ${r} ${-r}z`);
  }

  arc(x, y, r) { // the drawing has whole circles only
    this.d.push(`M${short(x - r)} ${short(y)}a${short(r)} ${short(r)} 0 1 0 ${short(2 * r)} 0a${short(r)} ${short(r)} 0 1 0 ${short(-2 * r)} 0z`);
  }
}

for (const name of ["moveTo", "lineTo", "bezierCurveTo", "quadraticCurveTo", "rect", "roundRect", "arc"]) {
  SvgContext.prototype[name] = function (...given) {
    this.current[name](...given);
  };
}

function short(x) {
  return String(Math.round(x * 100) / 100);
}

function quoted(text) {
  // eslint-disable-next-line no-control-regex
  return String(text).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

// What a picture shows: the drawing with its title above and its legend below. `paint` gets the extent in units of the scene.
function wholePicture(app) {
  const b = app.scene.bounds, drawn = app.drawn;
  const z = Math.max(12, Math.min(b.w, b.h) / 45);
  const entries = app.whole ? [...Array(app.whole.count).keys()].filter((v) => app.whole.links?.[v] && !app.hidden.has(app.whole.name(v))).slice(0, 24) : [];
  const texts = app.scene.legend?.() ?? entries.map((v) => [app.whole.colour(v), `${app.whole.name(v)}: ${number(app.whole.links[v])}`]);
  const extent = { x: b.x, y: b.y - 2.6 * z, w: Math.max(b.w, 20 * z), h: b.h + 2.6 * z + (texts.length + 1) * 1.5 * z };
  const title = app.drawing.f?.header?.title ?? app.f.header.title;
  return { extent, drawn, z, texts, title };
}

function paintPicture(app, context, view) {
  const { drawing } = app;
  const { extent, drawn, z, texts, title } = wholePicture(app);
  const kept = { context: drawing.context, view: drawing.view, ratio: drawing.ratio, w: drawing.w, h: drawing.h, single: app.scene.single };
  Object.assign(drawing, { context, view: view ? view(extent) : { x: 0, y: 0, k: 1 }, ratio: 1 });
  app.scene.single = undefined;
  if (view) Object.assign(drawing, { w: context.canvas.width, h: context.canvas.height });
  else Object.assign(drawing, { w: 0, h: 0 });
  try {
    if (!view) {
      context.fillStyle = drawing.ink.paper;
      context.fillRect(extent.x, extent.y, extent.w, extent.h);
    }
    drawing.paint(drawn);
    drawing.text(title, extent.x + z, extent.y + 1.6 * z, 1.3 * z, drawing.ink.ink, "600");
    texts.forEach(([colour, words], i) => {
      const y = extent.y + extent.h - (texts.length - i) * 1.5 * z;
      context.fillStyle = colour;
      context.fillRect(extent.x + z, y - 0.45 * z, 1.8 * z, 0.35 * z);
      drawing.text(words, extent.x + 3.4 * z, y, z, drawing.ink.ink);
    });
  } finally {
    Object.assign(drawing, { context: kept.context, view: kept.view, ratio: kept.ratio, w: kept.w, h: kept.h });
    app.scene.single = kept.single;
  }
  return extent;
}

// The whole drawing as the text of an SVG file.
function drawingAsSvg(app) {
  const context = new SvgContext();
  const e = paintPicture(app, context, null);
  return `<svg xmlns="${SVG_SPACE}" width="${short(e.w)}" height="${short(e.h)}" viewBox="${[e.x, e.y, e.w, e.h].map(short).join(" ")}" font-family="system-ui, 'DejaVu Sans', sans-serif" role="img">\n<title>${quoted(app.f.header.title)}</title>\n${context.out.join("\n")}\n</svg>\n`;
}

// The whole drawing on a canvas of its own.
function drawingAsCanvas(app) {
  const canvas = document.createElement("canvas");
  paintPicture(app, canvas.getContext("2d"), (e) => {
    const k = Math.min(2, PNG_PIXELS / Math.max(e.w, e.h));
    canvas.width = Math.ceil(e.w * k);
    canvas.height = Math.ceil(e.h * k);
    return { k, x: -e.x * k, y: -e.y * k };
  });
  return canvas;
}

async function saveDrawing(app, kind) {
  const blob = kind === "svg" ? new Blob([drawingAsSvg(app)], { type: "image/svg+xml" }) : await new Promise((done) => drawingAsCanvas(app).toBlob(done, "image/png"));
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: `${app.f.header.name.replace(/[^\w.-]+/g, "_")}.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  app.announce(`The drawing is saved as ${kind.toUpperCase()}`);
}

// The drawing as vectors in light colours, on a page of its own.
function layOutPrint(app) {
  const theme = document.documentElement.dataset.theme;
  if (theme === "dark") app.setTheme("light");
  const made = new DOMParser().parseFromString(drawingAsSvg(app), "image/svg+xml").documentElement;
  document.getElementById("printed").replaceChildren(document.importNode(made, true));
  if (theme === "dark") app.setTheme("dark");
}
