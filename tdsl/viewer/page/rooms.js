// Two more drawings: the ports of one device with what they are connected to, and the hall with its racks.

function deviceScene(app, d) {
  const { f } = app;
  const base = f.portBase[d], n = f.model(d).ports;
  const link = f.portLink;
  const tall = n > 6 ? 2 : 1, cols = Math.ceil(n / tall), size = 26;
  const w = Math.max(cols * size + 24, 260), h = tall * size + 50;
  const ports = [];
  const peers = new Map();
  const { tier, via_a: va, via_b: vb } = f.columns;
  for (let k = 0; k < n; k++) {
    const p = base + k, i = link[p];
    const port = { p, i, x: 12 + Math.floor(k / tall) * size, y: 40 + (k % tall) * size, size: size - 4 };
    ports.push(port);
    if (i < 0) continue;
    const mine = f.columns.link_a[i] === p;
    const via = va && va[i] >= 0 ? f.portDevice[mine ? va[i] : vb[i]] : -1;
    const peer = via >= 0 ? via : mine ? f.linkB[i] : f.linkA[i];
    if (!peers.has(peer)) peers.set(peer, { d: peer, ports: [] });
    peers.get(peer).ports.push(port);
  }
  if (!ports.some((x) => x.i >= 0) && va) { // a panel or an optical switch: its links cross it
    for (const i of f.linksOf(d)) {
      for (const p of [va[i], vb[i]]) {
        if (f.portDevice[p] !== d) continue;
        ports[p - base].i = i;
        const peer = p === va[i] ? f.linkA[i] : f.linkB[i];
        if (!peers.has(peer)) peers.set(peer, { d: peer, ports: [] });
        peers.get(peer).ports.push(ports[p - base]);
      }
    }
  }
  const above = [], below = [];
  for (const x of peers.values()) (tier[x.d] > tier[d] || (tier[d] >= 0 && tier[x.d] < 0) ? above : below).push(x);
  const chip = (x) => Math.max(66, f.deviceName(x.d).length * SMALL_LETTER + 14);
  const lay = (list, up) => {
    list.sort((x, y) => x.ports[0].x - y.ports[0].x || x.d - y.d);
    const widest = Math.max(w, 900);
    let x = 0, row = 0;
    const rows = [[]];
    for (const e of list) {
      if (x + chip(e) > widest) {
        x = 0;
        row++;
        rows.push([]);
      }
      Object.assign(e, { x, w: chip(e), h: 24, row });
      rows[row].push(e);
      x += e.w + 8;
    }
    for (const r of rows) {
      const used = r.length ? r[r.length - 1].x + r[r.length - 1].w : 0;
      for (const e of r) {
        e.x += (w - used) / 2;
        e.y = up ? -130 - e.row * 34 : h + 110 + e.row * 34;
      }
    }
  };
  lay(above, true);
  lay(below, false);
  const all = [...above, ...below];
  const scene = { device: d, bounds: bounds([{ x: 0, y: 0, w, h }, ...all]) };
  scene.paint = (drawing, c, state) => {
    const { ink } = drawing;
    for (const e of all) for (const port of e.ports) {
      const up = e.y < 0;
      c.beginPath();
      c.moveTo(port.x + port.size / 2, port.y + port.size / 2);
      const [x, y] = [e.x + e.w / 2, up ? e.y + e.h : e.y];
      c.bezierCurveTo(port.x + port.size / 2, up ? -70 : h + 60, x, up ? y + 50 : y - 50, x, y);
      c.strokeStyle = state.valueColour(state.value[port.i]);
      c.globalAlpha = 0.7;
      c.lineWidth = 1.3;
      c.stroke();
      c.globalAlpha = 1;
    }
    drawing.rounded(0, 0, w, h, 8, ink.box, ink.line, null, 1.5);
    drawing.text(f.deviceName(d), 12, 24, 15, ink.ink, "600");
    drawing.text(f.model(d).name, w - 12, 24, 12, ink.soft, "", "right");
    for (const port of ports) {
      drawing.rounded(port.x, port.y, port.size, port.size, 3, port.i >= 0 ? state.valueColour(state.value[port.i]) : ink.frame, ink.line);
      const label = (f.port(port.p, "label") || f.port(port.p, "path")).replace(/^[A-Za-z]+(?=\d)/, "").slice(0, 6);
      drawing.text(label, port.x + port.size / 2, port.y + port.size / 2 + 3, label.length > 4 ? 6 : 8, port.i >= 0 ? "#ffffff" : ink.soft, "", "center");
    }
    for (const e of all) {
      drawing.rounded(e.x, e.y, e.w, e.h, 5, ink.box, ink.line);
      drawing.text(f.deviceName(e.d), e.x + e.w / 2, e.y + 16, 11.5, ink.ink, "", "center");
      if (e.ports.length > 1) drawing.text(`× ${e.ports.length}`, e.x + e.w / 2, e.y < 0 ? e.y - 5 : e.y + e.h + 12, 9, ink.soft, "", "center");
    }
  };
  scene.hit = (x, y) => {
    for (const p of ports) {
      if (x >= p.x && y >= p.y && x <= p.x + p.size && y <= p.y + p.size) {
        const end = p.i < 0 ? "free" : f.portText(f.columns.link_a[p.i] === p.p ? f.columns.link_b[p.i] : f.columns.link_a[p.i]);
        return { tip: `${f.port(p.p, "label") || f.port(p.p, "path")}\n${end}`, select: p.i >= 0 ? { kind: "link", row: p.i } : null };
      }
    }
    const e = all.find((k) => x >= k.x && y >= k.y && x <= k.x + k.w && y <= k.y + k.h);
    return e ? { tip: f.deviceName(e.d), select: { kind: "device", row: e.d } } : {};
  };
  return scene;
}

// The floor: racks in their rows, each with the devices in its units.
function hallScene(app) {
  const { f } = app;
  const c = f.columns, places = f.header.places;
  const count = places.racks.length;
  const inside = Array.from({ length: count }, () => []);
  for (let d = 0; d < f.count; d++) if (c.device_rack[d] >= 0 && f.built[d]) inside[c.device_rack[d]].push(d);
  const W = 74, H = 190, AISLE = 60;
  let top = 0;
  const racks = [], heads = [];
  places.halls.forEach((hall, k) => {
    heads.push({ text: hall.name, x: 0, y: top });
    hall.rows.forEach((row, r) => {
      const mine = [...Array(count).keys()].filter((i) => c.rack_hall[i] === k && c.rack_row[i] === r && inside[i].length);
      mine.sort((x, y) => c.rack_number[x] - c.rack_number[y]);
      if (!mine.length) return;
      heads.push({ text: `row ${row}`, x: -64, y: top + 26 + H / 2, small: true });
      mine.forEach((i, n) => racks.push({ i, x: n * (W + 6), y: top + 26, w: W, h: H }));
      top += H + AISLE;
    });
    top += 30;
  });
  const boxes = racks.length ? racks : [{ x: 0, y: 0, w: 200, h: 100 }];
  const scene = { bounds: bounds([...boxes, ...heads.map((h) => ({ ...h, w: 60, h: 10 }))]) };
  const unit = (i) => (H - 34) / (places.height[i] || 48);
  const rect = (rack, d, k) => {
    const u = unit(rack.i), h = f.model(d).height || 1;
    const at = c.device_unit[d] || k * h + 1;
    return [rack.x + 5, rack.y + H - 6 - (at - 1 + h) * u, W - 10, Math.max(h * u - 0.6, 0.8)];
  };
  const kindOf = (kind) => (kind === "switch" ? [PALETTE[2], "switches"] : kind === "host" ? [PALETTE[0], "hosts"] : kind === "chip" ? [PALETTE[0], "chips"] : [PALETTE[3], "others"]);
  scene.legend = () => { // null where colours are those of the links
    if (app.colour === "plane" || app.colour === "mark") return null;
    const counts = new Map();
    for (const d of inside.flat()) {
      const [colour, word] = kindOf(f.setOf(d).kind);
      counts.set(word, [colour, (counts.get(word)?.[1] ?? 0) + 1]);
    }
    return [...counts].map(([word, [colour, n]]) => [colour, `${word}: ${number(n)}`]);
  };
  scene.paint = (drawing, ctx, state) => {
    const { ink } = drawing;
    for (const h of heads) drawing.text(h.text, h.x, h.y + 10, h.small ? 12 : 15, h.small ? ink.soft : ink.ink, h.small ? "" : "600");
    const scale = drawing.view.k;
    const s = app.selection;
    const hit = new Set(state.highlight ? state.highlight.devices : []);
    const near = new Set();
    for (const i of state.highlight?.links ?? []) near.add(f.linkA[i]).add(f.linkB[i]);
    for (const rack of racks) {
      const chosen = s?.kind === "rack" && s.row === rack.i;
      drawing.rounded(rack.x, rack.y, W, H, 4, ink.frame, chosen ? ink.accent : ink.line, null, chosen ? 3 : 1);
      drawing.text(places.racks[rack.i], rack.x + W / 2, rack.y + 17, 12, ink.ink, "600", "center");
      inside[rack.i].forEach((d, k) => {
        const kind = f.setOf(d).kind;
        ctx.fillStyle = hit.has(d) ? ink.glow : near.has(d) ? ink.accent : app.colour === "plane" || app.colour === "mark" ? state.deviceColour(d) : kindOf(kind)[0];
        const [x, y, w, h] = rect(rack, d, k);
        ctx.fillRect(x, y, w, h);
        const size = Math.min(7, h * 0.85);
        if (size * scale >= 6) drawing.text(f.deviceName(d), x + 3, y + h / 2 + size * 0.35, size, "#ffffff");
      });
      if (unit(rack.i) * scale >= 3) for (let u = 5; u <= (places.height[rack.i] || 48); u += 5) { // units at the left edge
        drawing.text(String(u), rack.x + 4.2, rack.y + H - 6 - (u - 0.5) * unit(rack.i) + 1.2, 3.6, ink.soft, "", "right");
      }
    }
    if (state.highlight) {
      const middle = new Map(racks.map((r) => [r.i, [r.x + W / 2, r.y + H / 2]]));
      ctx.beginPath();
      for (const i of state.highlight.links.slice(0, 3000)) {
        const [p, q] = [f.linkA[i], f.linkB[i]].map((d) => middle.get(c.device_rack[d]));
        if (!p || !q || p === q) continue;
        ctx.moveTo(...p);
        ctx.lineTo(...q);
      }
      ctx.strokeStyle = ink.glow;
      ctx.lineWidth = 1.5;
      ctx.stroke();
    }
  };
  scene.hit = (x, y) => {
    const rack = racks.find((r) => x >= r.x && y >= r.y && x <= r.x + r.w && y <= r.y + r.h);
    if (!rack) return {};
    const k = inside[rack.i].findIndex((d, n) => {
      const [rx, ry, rw, rh] = rect(rack, d, n);
      return x >= rx && x <= rx + rw && y >= ry && y <= ry + rh;
    });
    if (k >= 0 && app.drawing.view.k > 1.2) return { device: inside[rack.i][k] };
    return { tip: `${places.racks[rack.i]}\n${inside[rack.i].length} devices`, select: { kind: "rack", row: rack.i }, zoom: { x: rack.x - 10, y: rack.y - 10, w: W + 20, h: H + 20 } };
  };
  return scene;
}
