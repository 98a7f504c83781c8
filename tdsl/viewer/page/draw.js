// Draws a scene on a canvas; knows where everything is for clicks.

const PALETTE = ["#0b62a4", "#b3541e", "#2e7d4f", "#7a4aa0", "#a32a4b", "#3f51b5", "#8a6d00", "#00757f", "#6d4c41", "#ad6a8f", "#5d8a1e", "#c48a00"];
const DARK = ["#6cb6f5", "#f0995c", "#74c893", "#c29be6", "#ee7c9b", "#93a1f5", "#d8bb4a", "#4fc4cf", "#c8a48e", "#dfa5c6", "#a5d163", "#ffcf57"];
const CELLS_FROM = 1.1; // pixels that a cell has at least where cells are drawn one by one

class Drawing {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.view = { x: 0, y: 0, k: 1 };
    this.moved = false;
  }

  get dark() {
    return document.documentElement.dataset.theme === "dark";
  }

  theme() {
    const style = getComputedStyle(document.documentElement);
    this.ink = {};
    for (const n of ["paper", "ink", "soft", "line", "box", "frame", "accent", "mark", "cell", "host", "switch", "other", "glow", "good"]) {
      this.ink[n] = style.getPropertyValue(`--${n}`).trim();
    }
  }

  colour(value) {
    return value < 0 ? this.ink.soft : (this.dark ? DARK : PALETTE)[value % PALETTE.length];
  }

  newPath() {
    return this.context.newPath ? this.context.newPath() : new Path2D();
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(w * ratio));
    this.canvas.height = Math.max(1, Math.round(h * ratio));
    this.ratio = ratio;
    this.w = w;
    this.h = h;
  }

  fit(b, most = 1.6) {
    const k = Math.min((this.w - 40) / b.w, (this.h - 70) / b.h, most);
    this.view = { k, x: (this.w - b.w * k) / 2 - b.x * k, y: (this.h - 40 - b.h * k) / 2 - b.y * k + 6 };
    this.moved = false;
  }

  zoomAt(x, y, factor) {
    const v = this.view;
    const k = Math.min(40, Math.max(0.01, v.k * factor));
    this.view = { k, x: x - ((x - v.x) * k) / v.k, y: y - ((y - v.y) * k) / v.k };
    this.moved = true;
  }

  toScene(x, y) {
    return [(x - this.view.x) / this.view.k, (y - this.view.y) / this.view.k];
  }

  // ---------------------------------------------------------------- all of it
  paint(state) {
    const { context: c, view: v } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = this.ink.paper;
    c.fillRect(0, 0, this.w, this.h);
    c.setTransform(this.ratio * v.k, 0, 0, this.ratio * v.k, this.ratio * v.x, this.ratio * v.y);
    this.state = state;
    if (state.scene.paint) {
      state.scene.paint(this, c, state);
      return;
    }
    const { scene } = state;
    for (const n of scene.frames) this.frame(n, state);
    if (state.single) this.singleLinks(state);
    else for (const b of scene.bundles) if (b.a !== b.b) this.bundle(b, state);
    this.highlightedLinks(state, false);
    for (const b of scene.boxes) this.box(b, state);
    this.highlightedLinks(state, true);
    if (!state.single) for (const b of scene.bundles) if (b.a !== b.b) this.bundleLabel(b, state);
    this.highlights(state);
  }

  text(words, x, y, size, colour, weight = "", align = "left") {
    const c = this.context;
    c.font = `${weight} ${size}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
    c.fillStyle = colour;
    c.textAlign = align;
    c.fillText(words, x, y);
  }

  rounded(x, y, w, h, r, fill, stroke, dash, width = 1) {
    const c = this.context;
    c.beginPath();
    c.roundRect(x, y, w, h, r);
    if (fill) {
      c.fillStyle = fill;
      c.fill();
    }
    if (stroke) {
      c.setLineDash(dash ?? []);
      c.lineWidth = width;
      c.strokeStyle = stroke;
      c.stroke();
      c.setLineDash([]);
    }
  }

  frame(n, state) {
    const chosen = state.focus === n;
    if (n.times > 1) { // a pile of equal groups
      for (const k of [2, 1]) this.rounded(n.x + 6 * k, n.y - 6 * k, n.w, n.h, 10, this.ink.frame, this.ink.line);
    }
    this.rounded(n.x, n.y, n.w, n.h, 10, this.ink.frame, chosen ? this.ink.accent : this.ink.line, null, chosen ? 2.5 : 1);
    this.text(n.label, n.x + 12, n.y + n.size * 1.3, n.size, this.ink.ink, "600");
  }

  box(b, state) {
    const { ink } = this;
    const kind = b.set.kind;
    const fill = kind === "host" || kind === "chip" ? ink.host : kind === "switch" ? ink.switch : ink.other;
    const chosen = state.focus === b;
    if (state.boxesMarked?.has(b.index)) this.rounded(b.x - 3, b.y - 3, b.w + 6, b.h + 6, 9, null, this.ink.mark, null, 3);
    this.rounded(b.x, b.y, b.w, b.h, 7, fill, chosen ? ink.accent : b.outside ? ink.soft : ink.line, b.outside ? [5, 4] : null, chosen ? 2.5 : 1);
    const z = b.size;
    this.text(b.title, b.x + 11, b.y + z * 1.4, z, ink.ink, "600");
    this.text(b.sub, b.x + 11, b.y + z * 2.6, z * 0.86, ink.soft);
    if (b.ratio) this.text(b.ratio, b.x + b.w - 10, b.y + z * 1.4, z * 0.9, ink.soft, "600", "right");
    if (b.glyph.h) this.cells(b, state);
  }

  cellOrigin(b) {
    return [b.x + (b.w - b.glyph.w) / 2, b.y + b.head];
  }

  cellRect(b, i) {
    const g = b.glyph;
    const [x0, y0] = this.cellOrigin(b);
    if (g.kind === "one") return [b.x, b.y, b.w, b.h];
    const [x, y] = g.at(i);
    const w = g.wide ?? g.size;
    return g.kind === "grid" || g.kind === "cubes" ? [x0 + x, y0 + y, g.size, g.size] : [x0 + x + 0.5, y0 + y + 0.5, w * 0.86, g.size * 0.82];
  }

  cells(b, state) {
    const c = this.context, g = b.glyph;
    const [x0, y0] = this.cellOrigin(b);
    if (g.kind === "grid") this.gridLines(b, x0, y0, state);
    if (g.kind === "circle") this.circleLines(b, x0, y0, state);
    if (g.kind === "ring") this.ringLines(b, x0, y0, state);
    if (g.kind === "cubes") this.cubeLines(b, x0, y0, state);
    if (g.kind === "trays") for (let r = 0; r < g.rows; r++) this.rounded(x0 - 4, y0 + r * g.size - 0.5, g.w + 6, g.size - 1, 2, this.ink.box, this.ink.line);
    if (g.size * this.view.k < CELLS_FROM) {
      c.fillStyle = this.ink.cell;
      c.globalAlpha = 0.5;
      if (g.kind === "circle") { // the ring of the strips
        c.beginPath();
        c.arc(x0 + g.half, y0 + g.half, g.radius + 8 + g.strip / 2, 0, 2 * Math.PI);
        c.lineWidth = g.strip;
        c.strokeStyle = this.ink.cell;
        c.stroke();
      } else c.fillRect(x0, y0, g.w, g.h);
      c.globalAlpha = 1;
      return;
    }
    const groups = new Map();
    for (let i = 0; i < b.devices.length; i++) {
      const colour = state.deviceColour(b.devices[i]);
      if (b.each && i >= b.each && colour !== this.ink.mark && colour !== this.ink.good) continue; // the first of equal groups is drawn
      if (!groups.has(colour)) groups.set(colour, []);
      groups.get(colour).push(i);
    }
    for (const [colour, list] of [...groups].sort((x, y) => (x[0] === this.ink.mark) - (y[0] === this.ink.mark))) {
      c.fillStyle = colour;
      c.beginPath();
      for (const i of list) c.rect(...this.cellRect(b, i));
      c.fill();
    }
  }

  gridLines(b, x0, y0, state) {
    const c = this.context, g = b.glyph;
    const half = g.size / 2;
    const slices = g.slices;
    const [across, down] = [g.dims[0], g.dims[1] ?? 1];
    const at = (s, i, j) => [x0 + (s % g.perRow) * g.sw + g.margin + i * g.pitch + half, y0 + Math.floor(s / g.perRow) * g.sh + g.margin + j * g.pitch + half];
    const line = (colour, draw, width = 1) => {
      c.beginPath();
      draw();
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.globalAlpha = 0.75;
      c.stroke();
      c.globalAlpha = 1;
    };
    const colours = state.dimColours(b);
    line(colours[0], () => {
      for (let s = 0; s < slices; s++) for (let j = 0; j < down; j++) {
        const [l, y] = at(s, 0, j), [r] = at(s, across - 1, j);
        c.moveTo(l - (g.wraps[0] ? g.margin * 0.55 : 0), y);
        c.lineTo(r + (g.wraps[0] ? g.margin * 0.55 : 0), y);
      }
    });
    line(colours[1] ?? colours[0], () => {
      for (let s = 0; s < slices; s++) for (let i = 0; i < across; i++) {
        const [x, t] = at(s, i, 0), [, u] = at(s, i, down - 1);
        c.moveTo(x, t - (g.wraps[1] ? g.margin * 0.55 : 0));
        c.lineTo(x, u + (g.wraps[1] ? g.margin * 0.55 : 0));
      }
    });
    for (let s = 0; s < slices; s++) { // the wraps of the first row and column are drawn whole, those of the others as stubs
      if (g.wraps[0]) line(colours[0], () => {
        const [l, y] = at(s, 0, 0), [r] = at(s, across - 1, 0), m = g.margin * 0.55;
        c.moveTo(l - m, y);
        c.bezierCurveTo(l - m - 6, y - g.margin, l, y - g.margin * 0.95, (l + r) / 2, y - g.margin * 0.95);
        c.bezierCurveTo(r, y - g.margin * 0.95, r + m + 6, y - g.margin, r + m, y);
      });
    }
    if (slices > 1) line(colours[2] ?? colours[0], () => {
      for (let s = 0; s + 1 < slices; s++) {
        if ((s + 1) % g.dims[2] === 0) continue;
        const [x, y] = at(s, across - 1, Math.floor(down / 2)), [x2, y2] = at(s + 1, 0, Math.floor(down / 2));
        if (y === y2) arrow(c, x + half, y + g.pitch / 2, x2 - half, y2 + g.pitch / 2);
        else {
          const [fx, fy] = at(s, Math.floor(across / 2), down - 1), [tx, ty] = at(s + 1, Math.floor(across / 2), 0);
          c.moveTo(fx, fy + half);
          c.bezierCurveTo(fx, fy + g.margin * 1.7, tx, ty - g.margin * 1.7, tx, ty - half);
        }
      }
    }, 1.6);
  }

  // Chords between the devices of a ring; neighbours are joined by a flat curve inside the ring.
  ringLines(b, x0, y0, state) {
    const c = this.context, g = b.glyph;
    const colours = new Map();
    for (const [i, j, , n, rows] of pairsInside(state.scene.f, b.set)) {
      const kinds = new Map();
      for (const k of rows) if (state.value[k] >= 0) kinds.set(state.value[k], (kinds.get(state.value[k]) ?? 0) + 1);
      for (const [v] of kinds) {
        if (!colours.has(v)) colours.set(v, []);
        colours.get(v).push([i, j, n]);
      }
    }
    for (const [v, list] of [...colours].sort((p, q) => p[0] - q[0])) {
      const most = Math.max(...list.map((p) => p[2]));
      for (const width of [...new Set(list.map((p) => p[2]))]) {
        c.beginPath();
        for (const [i, j, n] of list) {
          if (n !== width) continue;
          const p = g.point(i, g.radius - 2), q = g.point(j, g.radius - 2);
          const near = Math.floor(i / g.each) === Math.floor(j / g.each) && g.each > 1;
          const pull = near ? 0.55 : 0.18;
          const [mx, my] = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
          c.moveTo(x0 + p[0], y0 + p[1]);
          c.quadraticCurveTo(x0 + mx + (g.half - mx) * pull, y0 + my + (g.half - my) * pull, x0 + q[0], y0 + q[1]);
        }
        c.strokeStyle = state.valueColour(v);
        c.lineWidth = g.n > 150 ? 0.6 : most > 1 ? 1 + (3 * width) / most : 1;
        c.globalAlpha = state.faint?.(v) ? 0.3 : 0.75;
        c.stroke();
      }
    }
    c.globalAlpha = 1;
    if (g.each > 1 && g.groups <= 100) for (let k = 0; k < g.groups; k++) {
      const t = (g.angle(k * g.each) + g.angle((k + 1) * g.each - 1)) / 2, r = g.radius + g.size + 14;
      const sizes = b.set.axes.slice(0, -1).map((x) => x[1]);
      const at = [];
      for (let m = sizes.length - 1, rest = k; m >= 0; m--) {
        at[m] = b.set.axes[m][0] + (rest % sizes[m]);
        rest = Math.floor(rest / sizes[m]);
      }
      this.text(at.join(", "), x0 + g.half + Math.cos(t) * r, y0 + g.half + Math.sin(t) * r + 3.5, 10, this.ink.soft, "", "center");
    } else if (g.n <= 64) for (let k = 0; k < g.n; k++) {
      const t = g.angle(k), r = g.radius + g.size + 14;
      this.text(String(b.set.axes.length ? b.set.axes[0][0] + k : k), x0 + g.half + Math.cos(t) * r, y0 + g.half + Math.sin(t) * r + 3.5, 11, this.ink.soft, "", "center");
    }
  }

  // Cubes, the lines of circuits between neighbours, and stubs where a dimension wraps.
  cubeLines(b, x0, y0, state) {
    const c = this.context, g = b.glyph;
    const [nx, ny, nz] = g.outer;
    const colours = state.dimColours(b);
    const line = (colour, draw, width = 2.2) => {
      c.beginPath();
      draw();
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.stroke();
    };
    const at = (i, j, k) => g.corner([i, j, k]).map((v, m) => v + (m ? y0 : x0));
    for (let k = 0; k < nz; k++) {
      line(colours[0], () => {
        for (let j = 0; j < ny; j++) {
          const y = at(0, j, k)[1] + g.ch / 2;
          c.moveTo(at(0, j, k)[0] - (g.wraps[0] ? 11 : 0), y);
          c.lineTo(at(nx - 1, j, k)[0] + g.cw + (g.wraps[0] ? 11 : 0), y);
        }
      });
      line(colours[1] ?? colours[0], () => {
        for (let i = 0; i < nx; i++) {
          const x = at(i, 0, k)[0] + g.cw / 2;
          c.moveTo(x, at(i, 0, k)[1] - (g.wraps[1] ? 11 : 0));
          c.lineTo(x, at(i, ny - 1, k)[1] + g.ch + (g.wraps[1] ? 11 : 0));
        }
      });
      if (nz > 1 && (k + 1 < nz || g.wraps[2])) line(colours[2] ?? colours[0], () => {
        // each cube is joined to the one in the same place of the next slice: a stroke from its corner
        for (let j = 0; j < ny; j++) for (let i = 0; i < nx; i++) {
          const [x, y] = at(i, j, k);
          arrow(c, x + g.cw, y, x + g.cw + 9, y - 9);
        }
      }, 1.6);
    }
    for (let k = 0; k < nz; k++) for (let j = 0; j < ny; j++) for (let i = 0; i < nx; i++) {
      const [x, y] = at(i, j, k);
      this.rounded(x, y, g.cw, g.ch, 3, this.ink.box, this.ink.line);
    }
    if (nz > 1) for (let k = 0; k < nz; k++) {
      const [x, y] = at(0, ny - 1, k);
      this.text(`slice ${k}${k + 1 < nz || g.wraps[2] ? `, arrows to slice ${(k + 1) % nz}` : ""}`, x, y + g.ch + 24, 10, this.ink.soft);
    }
  }

  // Links inside the groups of a circle: curves beside their strips, the wider the farther apart.
  localLines(b, x0, y0, state) {
    const c = this.context, g = b.glyph;
    const paths = new Map();
    for (const [i, j, first, , rows] of pairsInside(state.scene.f, b.set)) {
      const group = Math.floor(i / g.each);
      if (group !== Math.floor(j / g.each)) continue;
      const v = state.value[rows.find((k) => state.value[k] >= 0) ?? first];
      if (v < 0) continue;
      if (!paths.has(v)) paths.set(v, []);
      const t = g.angle(group), away = g.size * (0.55 + 0.4 * Math.abs(Math.floor((j % g.each) / g.cols) - Math.floor((i % g.each) / g.cols)));
      const [p, q] = [i, j].map((k) => g.at(k).map((z) => z + g.size / 2));
      paths.get(v).push([p, [(p[0] + q[0]) / 2 - Math.sin(t) * away * 1.4, (p[1] + q[1]) / 2 + Math.cos(t) * away * 1.4], q]);
    }
    for (const [v, list] of paths) {
      c.beginPath();
      for (const [p, m, q] of list) {
        c.moveTo(x0 + p[0], y0 + p[1]);
        c.quadraticCurveTo(x0 + m[0], y0 + m[1], x0 + q[0], y0 + q[1]);
      }
      c.strokeStyle = state.valueColour(v);
      c.lineWidth = 0.9;
      c.globalAlpha = 0.85;
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  circleLines(b, x0, y0, state) {
    const c = this.context, g = b.glyph;
    const point = (k, r) => [x0 + g.half + Math.cos(g.angle(k)) * r, y0 + g.half + Math.sin(g.angle(k)) * r];
    const across = state.acrossColour(b);
    if (g.local) this.localLines(b, x0, y0, state);
    c.strokeStyle = c.fillStyle = across ?? this.ink.line;
    c.beginPath();
    if (across === null) c.globalAlpha = 0;
    else if (g.groups > 150) { // so many lines fill the disc
      c.arc(x0 + g.half, y0 + g.half, g.radius, 0, 7);
      c.globalAlpha = 0.5;
      c.fill();
    } else {
      for (let i = 0; i < g.groups; i++) for (let j = i + 1; j < g.groups; j++) {
        c.moveTo(...point(i, g.radius));
        c.lineTo(...point(j, g.radius));
      }
      c.globalAlpha = Math.min(0.6, 12 / g.groups);
      c.lineWidth = 1;
      c.stroke();
    }
    c.globalAlpha = 1;
    for (let k = 0; k < g.groups; k++) {
      c.beginPath();
      c.arc(...point(k, g.radius), Math.min(3.2, g.size), 0, 7);
      c.fillStyle = this.ink.ink;
      c.fill();
      const [x, y] = point(k, g.radius + g.strip + 17);
      if (g.groups <= 100) this.text(String(b.set.parts[0][2].length === 1 ? b.set.parts[0][2][0][0] + k : k), x, y + 3.5, g.groups > 40 ? 8 : 11, this.ink.soft, "", "center");
    }
  }

  // ---------------------------------------------------------------- links
  // The curve of a bundle: between facing edges of two boxes, or below both where they are in one row.
  curve(bundle) {
    const [low, high] = bundle.a.y >= bundle.b.y ? [bundle.a, bundle.b] : [bundle.b, bundle.a];
    const aside = bundle.strand * Math.min(16, 70 / bundle.strands);
    if (low.level === high.level) {
      const [l, r] = low.x < high.x ? [low, high] : [high, low];
      const y = Math.max(l.y + l.h, r.y + r.h);
      const x1 = l.x + l.w * 0.62 + aside, x2 = r.x + r.w * 0.38 + aside, dip = 34 + Math.min(50, (x2 - x1) / 12);
      return [[x1, l.y + l.h], [x1, y + dip], [x2, y + dip], [x2, r.y + r.h]];
    }
    const x1 = low.x + low.w * low.ports(bundle) + aside, x2 = high.x + high.w * high.ports(bundle) + aside;
    const y1 = low.y, y2 = high.y + high.h, bend = (y1 - y2) * 0.45;
    return [[x1, y1], [x1, y1 - bend], [x2, y2 + bend], [x2, y2]];
  }

  bundle(b, state) {
    const c = this.context;
    const [p, q, r, s] = this.curve(b);
    const chosen = state.focus === b;
    c.beginPath();
    c.moveTo(...p);
    c.bezierCurveTo(...q, ...r, ...s);
    c.strokeStyle = chosen ? this.ink.glow : state.valueColour(b.value);
    c.lineWidth = (Math.min(1.2 + Math.log2(b.links) * 0.42, 7) * state.scene.size) / 12 + (chosen || state.heavy?.(b) ? 2.5 : 0);
    c.globalAlpha = state.dimmed && !state.dimmed(b) ? 0.45 : 0.85;
    c.stroke();
    c.globalAlpha = 1;
  }

  bundleLabel(b, state) {
    const marked = state.heavy?.(b);
    if (b.strands > 3 && !marked && b.strand !== Math.floor(b.strands / 2) - (b.strands - 1) / 2) return;
    const [p, q, r, s] = this.curve(b);
    const z = this.state.scene.size;
    const t = 0.5 + (b.strands > 3 ? 0 : b.strand * Math.min(0.3, (z * 2.2) / Math.max(Math.abs(p[1] - s[1]), 1)));
    const at = (k) => (1 - t) ** 3 * p[k] + 3 * (1 - t) ** 2 * t * q[k] + 3 * (1 - t) * t * t * r[k] + t ** 3 * s[k];
    const [x, y] = [at(0), at(1)];
    const words = b.strands > 3 && !marked ? `${number(b.all)} links` : b.text;
    const w = words.length * z * 0.56 + 16;
    this.rounded(x - w / 2, y - z * 0.85, w, z * 1.7, z * 0.75, this.ink.paper, b.strands > 3 && !marked ? this.ink.line : state.valueColour(b.value));
    this.text(words, x, y + z * 0.34, z, this.ink.ink, "", "center");
  }

  // Links one by one, from cell to cell; equal pairs once.
  singleLinks(state) {
    const { scene, value } = state;
    const c = this.context;
    const { f } = scene;
    if (scene.single?.value !== value) scene.single = { value, paths: singlePaths(this, scene, value) };
    for (const [v, path] of scene.single.paths) {
      if (v < 0) continue;
      c.strokeStyle = state.valueColour(v);
      c.lineWidth = 0.8;
      c.globalAlpha = f.linkCount > 4000 ? 0.18 : 0.4;
      c.stroke(path);
    }
    c.globalAlpha = 1;
  }

  centre(scene, d, toward) {
    const k = scene.boxOf[d];
    if (k < 0) return null;
    const b = scene.boxes[k];
    if (!scene.cellAt.has(k)) {
      const at = new Map();
      b.devices.forEach((x, i) => at.set(x, i));
      b.hosts?.forEach((x, i) => at.set(x, i * Math.round(b.devices.length / b.hosts.length)));
      scene.cellAt.set(k, at);
    }
    const [x, y, w, h] = this.cellRect(b, scene.cellAt.get(k).get(d));
    if (b.glyph.kind !== "one" || toward === undefined) return [x + w / 2, y + h / 2];
    return [x + w / 2, toward < y ? y : y + h];
  }

  // The links of what is selected: those between boxes below these, so that texts can be read, those inside a box over it.
  highlightedLinks(state, inside) {
    const c = this.context;
    const { scene } = state;
    const mark = state.highlight;
    if (!mark) return;
    const drawn = mark.links.slice(0, 4000);
    c.lineWidth = (drawn.length > 200 ? 1 : 2) / Math.min(1, this.view.k);
    c.strokeStyle = mark.colour ?? this.ink.glow;
    c.globalAlpha = drawn.length > 600 ? 0.4 : 0.9;
    c.beginPath();
    const { via_a: va, via_b: vb } = scene.f.columns;
    for (const i of drawn) {
      const chain = va && va[i] >= 0 ? [scene.f.linkA[i], scene.f.portDevice[va[i]], scene.f.linkB[i]] : [scene.f.linkA[i], scene.f.linkB[i]];
      for (let k = 1; k < chain.length; k++) {
        if ((scene.boxOf[chain[k - 1]] === scene.boxOf[chain[k]]) !== inside) continue;
        const p = this.centre(scene, chain[k - 1]), q = this.centre(scene, chain[k]);
        if (!p || !q) continue;
        c.moveTo(...p);
        c.lineTo(...q);
      }
    }
    c.stroke();
    c.globalAlpha = 1;
  }

  // The devices of what is selected, over everything else.
  highlights(state) {
    const { scene } = state;
    const mark = state.highlight;
    if (!mark) return;
    for (const d of mark.devices.slice(0, 4000)) {
      const k = scene.boxOf[d];
      if (k < 0) continue;
      const at = this.centre(scene, d);
      const b = scene.boxes[k];
      const size = b.glyph.kind === "one" ? 0 : (b.glyph.size + 3) / 2;
      if (size) this.rounded(at[0] - size, at[1] - size, 2 * size, 2 * size, 3, null, mark.colour ?? this.ink.glow, null, 2.2);
      else this.rounded(b.x - 2, b.y - 2, b.w + 4, b.h + 4, 8, null, mark.colour ?? this.ink.glow, null, 3);
    }
  }

  // ---------------------------------------------------------------- what is under the pointer
  hit(state, px, py) {
    const [x, y] = this.toScene(px, py);
    const { scene } = state;
    if (scene.hit) return scene.hit(x, y);
    for (const b of scene.boxes) {
      if (x < b.x || y < b.y || x > b.x + b.w || y > b.y + b.h) continue;
      if (b.devices.length === 1) return { device: b.devices[0], node: b };
      if (b.glyph.size * this.view.k >= CELLS_FROM * 2) {
        const slack = 1.5;
        for (let i = 0; i < (b.each || b.devices.length) && i < b.devices.length; i++) {
          const [cx, cy, w, h] = this.cellRect(b, i);
          if (x >= cx - slack && x <= cx + w + slack && y >= cy - slack && y <= cy + h + slack) return { device: b.devices[i], node: b };
        }
      }
      if (b.glyph.kind === "circle") {
        const [x0, y0] = this.cellOrigin(b);
        const g = b.glyph, dx = x - x0 - g.half, dy = y - y0 - g.half, r = Math.hypot(dx, dy);
        if (r > g.radius - 8 && r < g.half) {
          const k = Math.round(((Math.atan2(dy, dx) + Math.PI / 2) / (2 * Math.PI)) * g.groups);
          return { node: b, group: (k + g.groups) % g.groups };
        }
      }
      if (b.glyph.kind === "cubes") {
        const [x0, y0] = this.cellOrigin(b);
        const g = b.glyph;
        for (let k = 0; k < g.outer[2]; k++) for (let j = 0; j < g.outer[1]; j++) for (let i = 0; i < g.outer[0]; i++) {
          const [cx, cy] = g.corner([i, j, k]);
          if (x >= x0 + cx && y >= y0 + cy && x <= x0 + cx + g.cw && y <= y0 + cy + g.ch) return { node: b, group: g.group([i, j, k]) };
        }
      }
      return { node: b };
    }
    if (!state.single) {
      const c = this.context;
      c.save();
      c.setTransform(1, 0, 0, 1, 0, 0);
      for (const b of [...scene.bundles].reverse()) {
        if (b.a === b.b) continue;
        const [p, q, r, s] = this.curve(b);
        c.beginPath();
        c.moveTo(...p);
        c.bezierCurveTo(...q, ...r, ...s);
        c.lineWidth = Math.max(9 / this.view.k, 6);
        if (c.isPointInStroke(x, y)) {
          c.restore();
          return { bundle: b };
        }
      }
      c.restore();
    }
    for (const n of [...scene.frames].reverse()) {
      if (x >= n.x && y >= n.y && x <= n.x + n.w && y <= n.y + n.h) return { node: n };
    }
    return {};
  }
}

function arrow(c, x1, y1, x2, y2) {
  c.moveTo(x1, y1);
  c.lineTo(x2, y2);
  const t = Math.atan2(y2 - y1, x2 - x1);
  for (const turn of [2.6, -2.6]) {
    c.moveTo(x2, y2);
    c.lineTo(x2 + Math.cos(t + turn) * 5, y2 + Math.sin(t + turn) * 5);
  }
}

function singlePaths(drawing, scene, value) {
  const { f } = scene;
  const paths = new Map();
  const seen = new Set();
  const { via_a: va, via_b: vb } = f.columns;
  const add = (x, y, v) => {
    const key = (Math.min(x, y) * f.count + Math.max(x, y)) * 64 + v;
    if (seen.has(key)) return;
    seen.add(key);
    const p = drawing.centre(scene, x), q = drawing.centre(scene, y);
    if (!p || !q) return;
    const [low, high] = p[1] >= q[1] ? [x, y] : [y, x];
    const from = drawing.centre(scene, low, -Infinity), to = drawing.centre(scene, high, Infinity);
    if (!paths.has(v)) paths.set(v, drawing.newPath());
    paths.get(v).moveTo(...from);
    paths.get(v).lineTo(...to);
  };
  for (let i = 0; i < f.linkCount; i++) {
    if (va && va[i] >= 0) {
      add(f.linkA[i], f.portDevice[va[i]], value[i]);
      add(f.linkB[i], f.portDevice[vb[i]], value[i]);
    } else add(f.linkA[i], f.linkB[i], value[i]);
  }
  return paths;
}
