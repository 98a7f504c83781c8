// The drawing of one level: declarations as boxes in rows by tier, groups as frames around them ("plane × 8"), devices as cells.

const GAP = 26, PAD = 16, ROW_GAP = 120;
const LETTER = 7.2, SMALL_LETTER = 6.8;
const UNFOLDED = 64; // instances of a group that are drawn apart at most

// Scene of a scope: {boxes, frames, boxOf, width, height}. `boxOf` has for each device its box, -1 where it is not drawn.
function makeScene(f, scope, unfold) {
  const levels = setLevels(f);
  let tree = branch(f, scope, scope, unfold, true);
  if (f.header.layer === "scaleup" && !scope.names.length && tree.length > 1 && tree.some((n) => n.hosts)) {
    tree = [{ frame: true, label: "scale-up domain", scope, children: tree, open: true }];
  }
  const nodes = scope.names.length
    ? [{ frame: true, label: f.scopeName(scope), scope, children: tree, open: true }, ...surroundings(f, scope)]
    : tree;
  const boxes = [], frames = [];
  (function walk(list, within) {
    for (const n of list) {
      n.within = within;
      if (n.frame) {
        frames.push(n);
        walk(n.children, n);
      } else {
        n.index = boxes.length;
        n.level = levels[n.set.index];
        measure(f, n);
        boxes.push(n);
      }
    }
  })(nodes, null);
  const used = [...new Set(boxes.map((b) => b.level))].sort((x, y) => y - x);
  const width = Math.max(arrange(nodes, 0), 200);
  let y = 0;
  const deep = (n) => (n ? 1 + deep(n.within) : 0);
  for (const level of used) {
    const row = boxes.filter((b) => b.level === level);
    const most = Math.max(...row.map((b) => b.h));
    for (const b of row) b.y = y + (most - b.h);
    y += most + ROW_GAP;
  }
  for (const n of frames.reverse()) { // inner frames first
    const all = n.children;
    const pad = 12;
    n.size = Math.min(34, Math.max(14, n.w / 42));
    n.y = Math.min(...all.map((c) => c.y)) - pad - n.size * 1.6;
    n.h = Math.max(...all.map((c) => c.y + c.h)) + pad - n.y;
    n.depth = deep(n.within);
  }
  frames.reverse();
  const boxOf = new Int32Array(f.count).fill(-1);
  for (const b of boxes) {
    for (let i = 0; i < b.devices.length; i++) boxOf[b.devices[i]] = b.index;
    if (b.hosts) for (const d of b.hosts) boxOf[d] = b.index;
  }
  const scene = { f, scope, boxes, frames, boxOf, levels: used, cellAt: new Map() };
  scene.bounds = bounds([...boxes, ...frames]);
  scene.size = Math.min(34, Math.max(12, scene.bounds.h / 70, scene.bounds.w / 110)); // of the text of bundles
  return scene;
}

function bounds(list) {
  const x = Math.min(...list.map((n) => n.x)), y = Math.min(...list.map((n) => n.y));
  return { x: x - 30, y: y - 20, w: Math.max(...list.map((n) => n.x + n.w)) - x + 60, h: Math.max(...list.map((n) => n.y + n.h)) - y + 60 };
}

// The nodes of what is inside a scope; groups folded into one frame, or drawn apart where `unfold` levels are.
function branch(f, scope, whole, unfold, top) {
  const out = [];
  for (const c of f.children(scope)) {
    if (c.set) {
      const hosts = c.set.inside >= 0 ? f.sets[c.set.inside] : null;
      const devices = rowsIn(f, c.set, whole);
      if (!devices.length || holdsDrawn(f, c.set)) continue;
      out.push({ set: c.set, devices, foldDepth: scope.names.length, wholeDepth: whole.names.length, hosts: hosts && !linked(f, hosts) ? rowsIn(f, hosts, whole) : null, scope });
      continue;
    }
    const names = [...scope.names, c.group];
    if (unfold > 0 && c.count > 1 && c.count <= UNFOLDED) {
      for (let i = 0; i < c.count; i++) {
        const at = { names, at: scope.at * c.count + i };
        const children = branch(f, at, at, unfold - 1, false);
        if (children.length) out.push({ frame: true, label: f.scopeName(at), scope: at, children });
      }
      continue;
    }
    const folded = { names, at: scope.at * c.count, folded: c.count };
    const children = branch(f, folded, whole, unfold, false);
    if (!children.length) continue;
    if (c.kind === "host" && children.length === 1) { // chips stand for their hosts
      out.push(Object.assign(children[0], { foldDepth: scope.names.length }));
      continue;
    }
    const only = children.length === 1 && !children[0].frame && children[0].set.name === c.group;
    const unequal = c.count > 1 && c.sets.some((s) => countsOfGroups(f, s, names.length, scope).size > 1);
    const label = c.count === 1 ? c.group : unequal ? `${number(c.count)} ${c.group}, not all equal` : `${c.group} × ${number(c.count)}`;
    if (only) out.push(Object.assign(children[0], { opens: folded, foldDepth: scope.names.length }));
    else out.push({ frame: true, label, scope: folded, times: c.count, children });
  }
  return out;
}

// How many devices of a declaration the instances of a group have: each number with how many instances have it.
function countsOfGroups(f, s, depth, scope) {
  const each = s.count / instances(s, depth);
  const [from, to] = f.range(s, scope);
  const out = new Map();
  for (let d = from; d < to; d += each) {
    let n = 0;
    for (let k = d; k < d + each; k++) n += f.built[k];
    out.set(n, (out.get(n) ?? 0) + 1);
  }
  return out;
}

// Hosts whose chips are drawn in their place: they have no links of their own.
function holdsDrawn(f, s) {
  return f.sets.some((c) => c.inside === s.index) && !linked(f, s);
}

function linked(f, s) {
  if (!f._linked) {
    f._linked = new Uint8Array(f.sets.length);
    const of = new Int32Array(f.count);
    f.sets.forEach((x) => of.fill(x.index, x.first, x.first + x.count));
    const { via_a: va, via_b: vb } = f.columns;
    for (let i = 0; i < f.linkCount; i++) {
      f._linked[of[f.linkA[i]]] = f._linked[of[f.linkB[i]]] = 1;
      if (va && va[i] >= 0) f._linked[of[f.portDevice[va[i]]]] = f._linked[of[f.portDevice[vb[i]]]] = 1;
    }
    f._setOf = of;
  }
  return f._linked[s.index] === 1;
}

// Rows of a declaration that are inside `whole`; all of a folded group's instances.
function rowsIn(f, s, whole) {
  const [from, to] = f.range(s, whole);
  const out = [];
  for (let d = from; d < to; d++) if (f.built[d]) out.push(d);
  return Int32Array.from(out);
}

// What a scope is connected to outside of it: a box for each declaration, of the devices that are.
function surroundings(f, scope) {
  const inner = new Uint8Array(f.count);
  for (const s of f.sets) if (inside(s, scope.names)) inner.fill(1, ...f.range(s, scope));
  const met = new Uint8Array(f.count);
  const { via_a: va, via_b: vb } = f.columns;
  for (let i = 0; i < f.linkCount; i++) {
    const chain = va && va[i] >= 0 ? [f.linkA[i], f.portDevice[va[i]], f.portDevice[vb[i]], f.linkB[i]] : [f.linkA[i], f.linkB[i]];
    for (let k = 1; k < chain.length; k++) {
      if (inner[chain[k - 1]] && !inner[chain[k]]) met[chain[k]] = 1;
      if (inner[chain[k]] && !inner[chain[k - 1]]) met[chain[k - 1]] = 1;
    }
  }
  const out = [];
  for (const s of f.sets) {
    if (!f.shows(s)) continue;
    const devices = [];
    for (let d = s.first; d < s.first + s.count; d++) if (met[d]) devices.push(d);
    if (devices.length) out.push({ set: s, devices: Int32Array.from(devices), outside: true, scope: { names: [], at: 0 } });
  }
  return out;
}

// The row of each declaration: its tier; below the hosts what has scale-up links alone; what has no tier just above what it meets.
function setLevels(f) {
  if (f._levels) return f._levels;
  const { tier, below } = f.columns;
  const top = tier.reduce((x, y) => Math.max(x, y), 0);
  linked(f, f.sets[0]);
  const lowest = new Float64Array(f.sets.length).fill(Infinity);
  const { via_a: va, via_b: vb } = f.columns;
  const meet = (x, y) => {
    const s = f._setOf[x];
    if (tier[x] < 0 && tier[y] >= 0) lowest[s] = Math.min(lowest[s], tier[y] + 0.5);
  };
  for (let i = 0; i < f.linkCount; i++) {
    if (va && va[i] >= 0) {
      for (const [p, d] of [[va[i], f.linkA[i]], [vb[i], f.linkB[i]]]) {
        meet(f.portDevice[p], d);
      }
    } else if (tier[f.linkA[i]] < 0 || tier[f.linkB[i]] < 0) {
      meet(f.linkA[i], f.linkB[i]);
      meet(f.linkB[i], f.linkA[i]);
    }
  }
  f._levels = f.sets.map((s) => {
    let t = -1;
    for (let d = s.first; d < s.first + s.count; d++) t = Math.max(t, tier[d]);
    if (s.count && below[s.first]) return -0.5 - Math.max(t, 0);
    return t >= 0 ? t : Number.isFinite(lowest[s.index]) ? lowest[s.index] : s.kind === "ocs" ? top + 2 : top + 1;
  });
  return f._levels;
}

// ---------------------------------------------------------------- the inside of a box

function measure(f, b) {
  const s = b.set, n = b.devices.length;
  const what = f.model(b.devices[0]).name;
  b.title = n === 1 ? f.deviceName(b.devices[0]) : b.opens && !b.outside ? s.name : s.name;
  b.sub = n === 1 ? what : `${number(n)} × ${what}`;
  if (b.hosts) {
    b.title = f.sets[s.inside].name;
    b.sub = `${number(b.hosts.length)} × ${f.model(b.hosts[0]).name} with ${number(n)} × ${what}`;
  }
  const fold = b.outside ? 1 : instances(s, b.foldDepth) / instances(s, b.wholeDepth);
  b.each = fold > 1 ? s.count / instances(s, b.foldDepth) : 0;
  const counts = b.each ? countsOfGroups(f, s, b.foldDepth, b.scope.folded ? { names: b.scope.names.slice(0, b.wholeDepth), at: 0 } : b.scope) : new Map();
  if (counts.size > 1) { // groups that are not equal: a row of cells for each
    b.rowOf = b.each <= 64 && fold <= 64 ? b.each : 0;
    b.each = 0;
    b.sub = `${number(n)} × ${what}: ${[...counts].sort((x, y) => y[1] - x[1]).map(([k, times]) => `${number(k)} in ${number(times)}`).join(", ")}`;
  }
  b.glyph = glyph(f, b);
  if (!["matrix", "one"].includes(b.glyph.kind)) b.each = 0;
  if (b.each) b.sub = `${number(b.each)} × ${what} in each, ${number(n)} in all`;
  if (b.glyph.says) b.sub += b.glyph.says;
  b.size = Math.min(34, Math.max(14, b.glyph.w / 24));
  b.head = b.size * 3.2;
  const letters = b.size / 14;
  b.w = Math.max(118, Math.ceil(Math.max((b.title.length * LETTER + 70) * letters, (b.sub.length * SMALL_LETTER + 24) * letters, b.glyph.w + 24)));
  b.h = b.head + (b.glyph.h ? b.glyph.h + 12 : 0);
}

// Where cells are inside a box: {kind, size, w, h, at(i) -> [x, y]}.
function glyph(f, b) {
  const s = b.set, n = b.devices.length, whole = n === s.count && !b.outside;
  const shape = s.shape;
  if (shape.grid && whole && shape.axes.length && shape.axes.every((g) => g.length === 2) && shape.axes.length <= 3) return cubesGlyph(f, s);
  if (shape.grid && (whole || insideOf(s, b))) return gridGlyph(s, b, whole);
  if (shape.ring && whole) return ringGlyph(f, s, shape.ring);
  if (shape.circle && whole && shape.circle <= 1000) return circleGlyph(f, s, n);
  if (b.rowOf) {
    const size = b.rowOf * (s.count / b.rowOf) <= 300 ? 10 : 7;
    const rows = Math.ceil(n / b.rowOf) , first = Math.floor((b.devices[0] - s.first) / b.rowOf);
    const place = (i) => b.devices[i] - s.first - first * b.rowOf;
    const down = Math.floor(place(n - 1) / b.rowOf) + 1;
    return { kind: "matrix", size, wide: size, cols: b.rowOf, rows: Math.max(rows, down), w: b.rowOf * size, h: Math.max(rows, down) * size, at: (i) => [(place(i) % b.rowOf) * size, Math.floor(place(i) / b.rowOf) * size] };
  }
  const shown = b.each || n;
  if (shown === 1) return { kind: "one", size: 0, w: 0, h: 0, at: () => [0, 0] };
  let cols = Math.ceil(Math.sqrt(shown * 2.4));
  const own = s.parts[s.parts.length - 1][2].reduce((m, x) => m * x[1], 1);
  const trays = f.header.layer === "scaleup" && !b.each && s.kind === "switch" && s.parts[s.parts.length - 1][2].length === 2 && n <= 80;
  const last = s.axes.length ? s.axes[s.axes.length - 1][1] : n;
  if (b.hosts) cols = Math.max(1, Math.round(n / b.hosts.length));
  else if (trays) cols = last;
  else for (const c of [own, last]) if (shown % c === 0 && c > 1 && c <= 64 && shown / c <= c * 2 && (shown / c > 1 || c <= 40)) { cols = c; break; }
  const rows = Math.ceil(shown / cols);
  const size = b.hosts || trays ? 16 : shown <= 64 ? 13 : shown <= 300 ? 10 : shown <= 1200 ? 7 : shown <= 5000 ? 5 : 3 * Math.min(1, Math.sqrt(20000 / shown)); // no set is larger than one of 20,000
  const wide = b.hosts ? size * 1.8 : trays ? (size * 1.8 * 4) / last : size;
  const place = (i) => (b.each ? (b.devices[i] - s.first) % b.each : i);
  return {
    kind: b.hosts || trays ? "trays" : "matrix", size, wide, cols, rows, w: cols * wide, h: rows * size,
    at: (i) => [(place(i) % cols) * wide, Math.floor(place(i) / cols) * size],
  };
}

function insideOf(s, b) {
  return s.parts.length > 1 && b.devices.length === s.parts[s.parts.length - 1][2].reduce((m, x) => m * x[1], 1);
}

// A mesh or torus as slices of two dimensions. A cube of a larger torus is a mesh of its own.
function gridGlyph(s, b, whole) {
  const flat = whole && !s.shape.axes.length; // one axis counts the places of the grid
  const axes = flat ? s.shape.grid.map((_, k) => [k]) : whole ? s.shape.axes : s.parts[s.parts.length - 1][2].map((_, k) => [s.axes.length - s.parts[s.parts.length - 1][2].length + k]);
  const sizes = flat ? s.shape.grid : s.axes.map((x) => x[1]);
  const dims = axes.map((g) => g.reduce((n, k) => n * sizes[k], 1));
  const joined = s.shape.axes.some((g) => g.length > 1);
  const wraps = whole ? s.shape.wraps : dims.map((_, k) => !joined && s.shape.wraps[k]);
  const n = dims.reduce((x, y) => x * y, 1);
  const size = n <= 128 ? 20 : n <= 600 ? 14 : n <= 1500 ? 10 : 6;
  const [across, down] = [dims[0], dims[1] ?? 1];
  const slices = dims.slice(2).reduce((x, y) => x * y, 1);
  const margin = 14;
  const perRow = Math.min(slices, Math.max(1, Math.ceil(Math.sqrt(slices * 1.6))));
  const [sw, sh] = [across * size + 2 * margin, down * size + 2 * margin + (slices > 1 ? 8 : 0)];
  const first = s.first;
  const coordinates = (d) => {
    let row = d - first;
    const at = [];
    for (let k = sizes.length - 1; k >= 0; k--) {
      at[k] = row % sizes[k];
      row = Math.floor(row / sizes[k]);
    }
    return axes.map((g) => g.reduce((v, k) => v * sizes[k] + at[k], 0));
  };
  const place = (c) => {
    let slice = 0;
    for (let k = 2; k < dims.length; k++) slice = slice * dims[k] + c[k];
    return [(slice % perRow) * sw + margin + c[0] * size, Math.floor(slice / perRow) * sh + margin + (c[1] ?? 0) * size];
  };
  return {
    kind: "grid", size: size * 0.62, pitch: size, dims, wraps, slices, perRow, sw, sh, margin, place,
    w: perRow * sw, h: Math.ceil(slices / perRow) * sh, at: (i) => place(coordinates(b.devices[i])),
  };
}

// Pairs of a declaration's devices that are linked, by row: [i, j, a link of them, how many of its class].
function pairsInside(f, s) {
  if (s._pairs) return s._pairs;
  const found = new Map();
  const { link_class: kind } = f.columns;
  for (let i = 0; i < f.linkCount; i++) {
    const x = f.linkA[i] - s.first, y = f.linkB[i] - s.first;
    if (x < 0 || y < 0 || x >= s.count || y >= s.count) continue;
    const key = (Math.min(x, y) * s.count + Math.max(x, y)) * f.header.classes.length + kind[i];
    const pair = found.get(key);
    if (pair) {
      pair[3]++;
      pair[4].push(i);
    } else found.set(key, [Math.min(x, y), Math.max(x, y), i, 1, [i]]);
  }
  return (s._pairs = [...found.values()]);
}

// Devices on a circle, a gap between groups, with a chord for each linked pair.
function ringGlyph(f, s, groups) {
  const n = s.count, each = n / groups;
  const size = n > 150 ? 7 : n > 60 ? 9 : 13;
  const gap = each > 1 ? 1 : 0;
  const slots = n + groups * gap;
  const radius = Math.max(80, (slots * (size + 3)) / (2 * Math.PI));
  const half = radius + size + 26;
  const angle = (i) => ((i + gap * Math.floor(i / each) + gap / 2) / slots) * 2 * Math.PI - Math.PI / 2;
  const point = (i, r) => [half + Math.cos(angle(i)) * r, half + Math.sin(angle(i)) * r];
  const links = pairsInside(f, s).reduce((k, p) => k + p[3], 0);
  return {
    kind: "ring", size, n, groups, each, radius, half, angle, point, w: 2 * half, h: 2 * half, says: `, ${number(links)} ${f.columns.via_a && f.columns.via_a[pairsInside(f, s)[0][2]] >= 0 ? "circuits" : "links"} between them`,
    at: (i) => point(i, radius + size / 2 + 2).map((v) => v - size / 2),
  };
}

// A torus of cubes as so many cubes: slices of two dimensions side by side, in each cube its chips layer by layer.
function cubesGlyph(f, s) {
  const size = (k) => s.axes[k][1];
  const outer = s.shape.axes.map((g) => size(g[0])), inner = s.shape.axes.map((g) => size(g[1]));
  while (outer.length < 3) {
    outer.push(1);
    inner.push(1);
  }
  const layers = Math.ceil(Math.sqrt(inner[2])), cell = 4;
  const layer = [inner[0] * cell + 2, inner[1] * cell + 2];
  const cw = layers * layer[0] + 6, ch = Math.ceil(inner[2] / layers) * layer[1] + 6;
  const [pw, ph] = [cw + 26, ch + 26];
  const margin = 26, wide = outer[0] * pw + margin, high = outer[1] * ph + margin;
  const wanted = Math.sqrt(outer[2] * 1.6 * (high / wide));
  const even = [...Array(outer[2]).keys()].map((k) => k + 1).filter((k) => outer[2] % k === 0); // rows of slices of one length
  const across = outer[2] < 4 ? outer[2] : even.reduce((x, y) => (Math.abs(y - wanted) < Math.abs(x - wanted) ? y : x));
  const corner = (c) => [(c[2] % across) * (wide + 14) + margin / 2 + c[0] * pw + 13, Math.floor(c[2] / across) * (high + 14) + margin / 2 + c[1] * ph + 13];
  const sizes = s.axes.map((x) => x[1]);
  const indices = (row) => {
    const at = [];
    for (let k = sizes.length - 1; k >= 0; k--) {
      at[k] = row % sizes[k];
      row = Math.floor(row / sizes[k]);
    }
    return at;
  };
  const parts = (row) => {
    const at = indices(row);
    const c = s.shape.axes.map((g) => at[g[0]]), x = s.shape.axes.map((g) => at[g[1]]);
    while (c.length < 3) {
      c.push(0);
      x.push(0);
    }
    return [c, x];
  };
  const cubes = outer[0] * outer[1] * outer[2];
  const between = pairsInside(f, s).filter(([i, j]) => parts(i)[0].join() !== parts(j)[0].join());
  const first = between.length ? between[0] : null;
  const some = first ? between.filter(([i, j]) => [parts(i)[0].join(), parts(j)[0].join()].sort().join(" ") === [parts(first[0])[0].join(), parts(first[1])[0].join()].sort().join(" ")).reduce((k, p) => k + p[3], 0) : 0;
  const inCircuits = f.columns.via_a && first && f.columns.via_a[first[2]] >= 0;
  return {
    kind: "cubes", size: cell * 0.85, pitch: cell, outer, inner, cw, ch, across, corner, wraps: s.shape.wraps, parts,
    w: across * (wide + 14), h: Math.ceil(outer[2] / across) * (high + 14),
    says: ` in ${number(cubes)} cubes, ${number(some)} ${inCircuits ? "circuits" : "links"} for each line`,
    group: (c) => s.parts[0][2].reduce((v, axis, k) => v * axis[1] + (c[s.shape.axes.findIndex((g) => g[0] === k)] ?? 0), 0),
    at: (i) => {
      const [c, x] = parts(i);
      const [x0, y0] = corner(c);
      return [x0 + 4 + (x[2] % layers) * layer[0] + x[0] * cell, y0 + 4 + Math.floor(x[2] / layers) * layer[1] + x[1] * cell];
    },
  };
}

// Groups on a circle, each a strip of its devices that points outward.
function circleGlyph(f, s, n) {
  const groups = s.shape.circle, each = n / groups;
  const cols = each > 8 ? 2 : 1, size = groups > 150 ? 2.5 : groups > 40 ? 5 : 9;
  const radius = Math.max(60, (groups * (cols * size + Math.min(6, size + 1) + (groups <= 40 && each > 1 ? size : 0))) / (2 * Math.PI));
  const strip = Math.ceil(each / cols) * size;
  const half = radius + strip + 22;
  const angle = (g) => (g / groups) * 2 * Math.PI - Math.PI / 2;
  const count = s.count * each <= 1 << 20 ? pairsInside(f, s) : [];
  const within = count.reduce((k, p) => k + (Math.floor(p[0] / each) === Math.floor(p[1] / each) ? p[3] : 0), 0);
  const across = count.reduce((k, p) => k + p[3], 0) - within;
  return {
    kind: "circle", size, groups, each, radius, strip, half, angle, cols, local: groups <= 40 && each > 1, w: 2 * half, h: 2 * half,
    says: count.length ? `, ${number(across)} links between groups${within ? `, ${number(within)} inside` : ""}` : "",
    at: (i) => {
      const g = Math.floor(i / each), k = i % each;
      const t = angle(g), r = radius + 8 + Math.floor(k / cols) * size, side = ((k % cols) - (cols - 1) / 2) * size;
      return [half + Math.cos(t) * r - Math.sin(t) * side - size / 2, half + Math.sin(t) * r + Math.cos(t) * side - size / 2];
    },
  };
}

// ---------------------------------------------------------------- side by side

// Places nodes from x on; the width they take.
function arrange(nodes, x) {
  const frames = nodes.filter((n) => n.frame), boxes = nodes.filter((n) => !n.frame);
  let at = x;
  const taken = new Set();
  for (const n of frames) {
    const inner = arrange(n.children, at + PAD);
    n.x = at;
    n.w = Math.max(inner + 2 * PAD, n.label.length * LETTER + 30);
    shift(n.children, (n.w - 2 * PAD - inner) / 2);
    at += n.w + GAP;
    levelsOf(n, taken);
  }
  const framesWidth = frames.length ? at - GAP - x : 0;
  const rows = new Map();
  for (const b of boxes) {
    if (!rows.has(b.level)) rows.set(b.level, []);
    rows.get(b.level).push(b);
  }
  const widthOf = (row) => row.reduce((w, b) => w + b.w + GAP, -GAP);
  const mixed = [...rows].filter(([level]) => taken.has(level)).map(([, row]) => row);
  const free = [...rows].filter(([level]) => !taken.has(level)).map(([, row]) => row);
  const beside = Math.max(0, ...mixed.map(widthOf));
  const block = framesWidth + (beside && framesWidth ? GAP : 0) + beside;
  const total = Math.max(block, ...free.map(widthOf));
  const left = (total - block) / 2;
  for (const n of frames) shift([n], left);
  const spread = (row, from, width) => {
    let to = from + (width - widthOf(row)) / 2;
    for (const b of row) {
      b.x = to;
      to += b.w + GAP;
    }
  };
  for (const row of mixed) spread(row, x + left + block - beside, beside);
  for (const row of free) spread(row, x, total);
  return total;
}

function shift(nodes, by) {
  for (const n of nodes) {
    n.x += by;
    if (n.frame) shift(n.children, by);
  }
}

function levelsOf(n, into) {
  if (n.frame) n.children.forEach((c) => levelsOf(c, into));
  else into.add(n.level);
}

// ---------------------------------------------------------------- links between boxes

// Bundles of a scene: links between two boxes that have one colour, and those inside a box. `value` has the colour of each link.
function makeBundles(scene, value, values) {
  const { f, boxes, boxOf } = scene;
  const n = boxes.length;
  const dense = n * n * values <= 1 << 22 ? new Int32Array(n * n * values) : null;
  const sparse = new Map();
  const { via_a: va, via_b: vb } = f.columns;
  const add = (x, y, i) => {
    const p = boxOf[x], q = boxOf[y];
    if (p < 0 || q < 0 || value[i] < 0) return;
    const key = (p < q ? p * n + q : q * n + p) * values + value[i];
    if (dense) dense[key]++;
    else sparse.set(key, (sparse.get(key) ?? 0) + 1);
  };
  for (let i = 0; i < f.linkCount; i++) {
    if (va && va[i] >= 0) {
      add(f.linkA[i], f.portDevice[va[i]], i);
      add(f.linkB[i], f.portDevice[vb[i]], i);
    } else add(f.linkA[i], f.linkB[i], i);
  }
  const out = [];
  const counted = dense ? [...dense.keys()].filter((k) => dense[k]).map((k) => [k, dense[k]]) : sparse;
  for (const [key, count] of counted) {
    const v = key % values, pair = Math.floor(key / values);
    out.push({ a: boxes[Math.floor(pair / n)], b: boxes[pair % n], value: v, links: count });
  }
  out.sort((x, y) => x.a.index - y.a.index || x.b.index - y.b.index || x.value - y.value);
  for (const b of boxes) b.insideLinks = 0;
  for (const x of out) if (x.a === x.b) x.a.insideLinks += x.links;
  return out;
}

// Rows of the links of a bundle.
function linksOfBundle(scene, bundle, value) {
  const { f, boxOf } = scene;
  const { via_a: va, via_b: vb } = f.columns;
  const [p, q] = [bundle.a.index, bundle.b.index];
  const joins = (x, y) => (boxOf[x] === p && boxOf[y] === q) || (boxOf[x] === q && boxOf[y] === p);
  const out = [];
  for (let i = 0; i < f.linkCount; i++) {
    if (value[i] !== bundle.value) continue;
    if (va && va[i] >= 0 ? joins(f.linkA[i], f.portDevice[va[i]]) || joins(f.linkB[i], f.portDevice[vb[i]]) : joins(f.linkA[i], f.linkB[i])) out.push(i);
  }
  return out;
}

// Capacity down and up of the switches of a box, in bit/s: links at their upper and lower ends.
function ratioOf(f, b) {
  if (b.set.kind !== "switch") return null;
  if (!f._down) {
    f._down = new Float64Array(f.count);
    f._up = new Float64Array(f.count);
    f._across = new Float64Array(f.count);
    const { tier, link_rate: rate } = f.columns;
    for (let i = 0; i < f.linkCount; i++) {
      const x = f.linkA[i], y = f.linkB[i], r = f.header.rates[rate[i]];
      if (tier[x] === tier[y]) {
        f._across[x] += r;
        f._across[y] += r;
      } else {
        const [low, high] = tier[x] < tier[y] ? [x, y] : [y, x];
        f._up[low] += r;
        f._down[high] += r;
      }
    }
  }
  let worst = null;
  for (const d of b.devices) if (f._up[d] > 0 && f._down[d] > 0) worst = Math.max(worst ?? 0, f._down[d] / f._up[d]);
  return worst;
}
