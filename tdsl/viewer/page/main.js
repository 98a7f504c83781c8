// Puts the page together: what is open, what is selected, and what keys and the pointer do.

const APART = 8; // instances of a group that are drawn apart where a change is shown

class App {
  constructor() {
    this.drawing = new Drawing(document.getElementById("canvas"));
    this.panel = new Panel(this);
    this.packs = [...document.querySelectorAll("script.pack")];
    this.fabrics = [];
    this.colour = "class";
    this.unfold = 0;
    this.single = false;
    this.selection = null;
    this.view = "network";
    this.scope = { names: [], at: 0 };
  }

  async start() {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.setTheme(dark.matches ? "dark" : "light");
    dark.addEventListener("change", (e) => this.setTheme(e.matches ? "dark" : "light"));
    this.listen();
    if (this.packs.length > 1) {
      const pick = document.getElementById("fabric");
      pick.hidden = false;
      pick.append(...this.packs.map((_, k) => element("option", { value: k }, `fabric ${k + 1}`)));
      for (let k = 0; k < this.packs.length; k++) pick.options[k].textContent = (await this.fabric(k)).header.name;
      pick.addEventListener("change", () => this.show(Number(pick.value)));
    }
    const wanted = location.hash;
    await this.show(0);
    const asked = this.f.marks.find((m) => m.kind === "failed" || m.kind === "fault");
    if (!wanted && asked) this.highlight(asked);
    this.follow(wanted);
  }

  async fabric(k) {
    if (!this.fabrics[k]) {
      const f = new Fabric(await unpack(this.packs[k]));
      f.marks = f.header.marks.map((m, i) => ({ ...m, index: i, devices: [...f.columns[`mark${i}_devices`]], links: [...f.columns[`mark${i}_links`]] }));
      f.changed = f.marks.some((m) => m.kind === "added" || m.kind === "removed");
      this.fabrics[k] = f;
      this.packs[k].textContent = "";
    }
    return this.fabrics[k];
  }

  async show(k) {
    this.f = await this.fabric(k);
    this.scope = { names: [], at: 0 };
    this.selection = null;
    document.getElementById("title").textContent = this.f.header.title;
    const pick = document.getElementById("mark");
    pick.replaceChildren(...this.f.marks.map((m, i) => element("option", { value: i }, m.title)));
    document.getElementById("mark-pick").hidden = true;
    this.mark = this.f.marks[0] ?? null;
    for (const o of document.getElementById("colour").options) {
      o.disabled = o.value === "network" ? !this.f.header.networks : o.value === "mark" ? !this.f.marks.length : o.value === "change" ? !this.f.changed : o.value === "plane" ? !this.f.columns.plane.some((x) => x >= 0) : o.value === "rail" ? !this.f.columns.link_rail.some((x) => x >= 0) : false;
      o.hidden = o.value === "change" && o.disabled;
    }
    this.hidden = new Set();
    const groups = this.f.children(this.scope).filter((x) => x.group && x.count > 1);
    this.unfold = this.f.changed && groups.every((x) => x.count <= APART) ? 1 : 0;
    this.plain = this.f.changed ? "change" : this.f.header.networks ? "network" : this.f.columns.link_rail.some((x) => x > 0) ? "rail" : "class";
    this.colour = this.plain;
    document.getElementById("colour").value = this.plain;
    this.networks();
    this.buttons();
    this.panel.showFigures();
    this.panel.showFindings();
    this.panel.showChanges();
    this.open(this.scope);
  }

  // Of a cluster: all of its networks, or one of them with the devices that they share.
  networks() {
    const pick = document.getElementById("network");
    const names = this.f.header.networks;
    document.getElementById("network-pick").hidden = !names;
    if (!names) return;
    pick.replaceChildren(element("option", { value: -1 }, "all"), ...names.map((n, k) => element("option", { value: k }, n)));
    pick.value = this.f.network ?? -1;
  }

  setNetwork(k) {
    this.f.network = k;
    document.getElementById("network").value = k;
    this.selection = null;
    const s = this.f.sets.find((x) => inside(x, this.scope.names) && this.f.shows(x));
    this.open(s ? this.scope : { names: [], at: 0 });
  }

  // ---------------------------------------------------------------- levels
  open(scope) {
    this.view = "network";
    this.scope = { names: scope.names, at: scope.at };
    this.build();
    this.drawing.resize();
    this.drawing.fit(this.scene.bounds);
    this.refresh();
    this.announce(scope.names.length ? `${this.f.scopeName(this.scope)} opened` : `${this.f.header.title}, whole fabric`);
  }

  build() {
    this.scene = makeScene(this.f, this.scope, this.unfold);
    for (const b of this.scene.boxes) {
      const r = ratioOf(this.f, b);
      b.ratio = r === null || this.f.changed ? null : `${+r.toFixed(2)}:1`;
    }
    this.recolour();
  }

  openDevice(d) {
    this.view = "device";
    this.scene = deviceScene(this, d);
    this.selection = { kind: "device", row: d };
    this.drawing.resize();
    this.drawing.fit(this.scene.bounds);
    this.refresh();
  }

  openHall(rack) {
    this.view = "hall";
    this.scene = hallScene(this);
    this.drawing.resize();
    this.drawing.fit(this.scene.bounds);
    if (rack !== undefined) this.select({ kind: "rack", row: rack });
    else this.refresh();
  }

  up() {
    if (this.selection && this.view !== "device") return this.select(null);
    if (this.view !== "network") {
      this.selection = null;
      return this.open(this.scope);
    }
    if (this.scope.names.length) {
      const s = this.f.sets.find((x) => inside(x, this.scope.names));
      const names = this.scope.names.slice(0, -1);
      const each = instances(s, this.scope.names.length) / instances(s, names.length);
      this.open({ names, at: Math.floor(this.scope.at / each) });
    }
  }

  sibling(step) {
    if (!this.scope.names.length || this.view !== "network") return;
    const n = instances(this.f.sets.find((x) => inside(x, this.scope.names)), this.scope.names.length);
    this.open({ names: this.scope.names, at: (this.scope.at + step + n) % n });
  }

  // ---------------------------------------------------------------- colours
  recolour() {
    const { f } = this;
    const c = f.columns;
    const cache = (f.values ??= {});
    const key = this.colour === "mark" ? `mark${this.mark.index}` : this.colour;
    const chosen = f.network ?? -1;
    cache[`${key} ${chosen}`] ??= this.ofNetwork(this.values(key, f, c), chosen);
    this.whole = cache[`${key} ${chosen}`];
    this.value = this.shownValues(this.whole);
    if (!this.scene.boxes) return;
    this.scene.bundles = makeBundles(this.scene, this.value.of, this.value.count);
    const pairs = new Map();
    for (const b of this.scene.bundles) {
      const pair = `${b.a.index} ${b.b.index}`;
      if (!pairs.has(pair)) pairs.set(pair, []);
      pairs.get(pair).push(b);
      const rates = new Set();
      b.text = number(b.links);
      b.rates = rates;
    }
    for (const list of pairs.values()) {
      const all = list.reduce((n, b) => n + b.links, 0);
      list.forEach((b, i) => Object.assign(b, { strand: i - (list.length - 1) / 2, strands: list.length, all }));
    }
    this.rateTexts();
    // bundles leave a box beside each other, in the order of what they go to
    for (const box of this.scene.boxes) {
      const mine = [...pairs.values()].map((l) => l[0]).filter((b) => (b.a === box) !== (b.b === box));
      const other = (b) => (b.a === box ? b.b : b.a);
      const place = new Map();
      for (const side of [mine.filter((b) => other(b).level > box.level), mine.filter((b) => other(b).level < box.level)]) {
        side.sort((x, y) => other(x).x + other(x).w / 2 - other(y).x - other(y).w / 2);
        side.forEach((b, i) => place.set(`${b.a.index} ${b.b.index}`, side.length === 1 ? 0.5 : 0.15 + (0.7 * (i + 0.5)) / side.length));
      }
      box.ports = (b) => place.get(`${b.a.index} ${b.b.index}`) ?? 0.5;
    }
  }

  // "2,048 × 400G" where all links of a bundle have one rate.
  rateTexts() {
    const { f, scene } = this;
    const rates = f.header.rates;
    if (rates.length === 1) for (const b of scene.bundles) b.text = `${number(b.links)} × ${gbps(rates[0])}`;
    else if (this.colour === "class" || this.colour === "network") {
      const of = new Map();
      for (let i = 0; i < f.linkCount; i++) {
        const k = this.value.of[i];
        of.set(k, of.has(k) && of.get(k) !== f.columns.link_rate[i] ? -1 : f.columns.link_rate[i]);
      }
      for (const b of scene.bundles) if (of.get(b.value) >= 0) b.text = `${number(b.links)} × ${gbps(rates[of.get(b.value)])}`;
    } else if (this.colour === "rate") for (const b of scene.bundles) b.text = `${number(b.links)} × ${gbps(rates[b.value])}`;
  }

  // Without the links that the legend hides.
  shownValues(value) {
    const hidden = new Set([...this.hidden].map((name) => [...Array(value.count).keys()].find((v) => value.name(v) === name)).filter((v) => v !== undefined));
    return hidden.size ? { ...value, of: Int32Array.from(value.of, (v) => (hidden.has(v) ? -1 : v)) } : value;
  }

  // What the legend calls a value is shown again, or hidden.
  toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    if (this.view === "device") this.value = this.shownValues(this.whole);
    else this.recolour();
    this.refresh();
  }

  // The colours of links with -1 for those of other networks than the chosen one, which are not drawn.
  ofNetwork(value, chosen) {
    const network = this.f.columns.link_network;
    return chosen < 0 ? value : { ...value, of: Int32Array.from(value.of, (v, i) => (network[i] === chosen ? v : -1)) };
  }

  values(key, f, c) {
    const of = new Int32Array(f.linkCount);
    const draw = this.drawing;
    if (key === "class") return { what: "Class", of: c.link_class, count: f.header.classes.length, name: (v) => f.header.classes[v], colour: (v) => draw.colour(v), device: () => draw.ink.cell };
    if (key === "network") {
      const at = new Map(f.header.networks.map((n, k) => [n, k]));
      return { what: "Network", of: c.link_network, count: at.size, name: (v) => f.header.networks[v], colour: (v) => draw.colour(v), device: (d) => (f.setOf(d).prefix ? draw.colour(at.get(f.setOf(d).prefix)) : draw.ink.cell) };
    }
    if (key === "rate") return { what: "Rate", of: c.link_rate, count: f.header.rates.length, name: (v) => gbps(f.header.rates[v]), colour: (v) => draw.colour(v), device: () => draw.ink.cell };
    if (key === "plane") {
      for (let i = 0; i < of.length; i++) of[i] = Math.max(c.plane[f.linkA[i]], c.plane[f.linkB[i]]) + 1;
      return { what: "Plane", of, count: of.reduce((x, y) => Math.max(x, y), 0) + 1, name: (v) => (v ? `plane ${v - 1}` : "no plane"), colour: (v) => draw.colour(v - 1), device: (d) => (c.plane[d] >= 0 ? draw.colour(c.plane[d]) : draw.ink.cell) };
    }
    if (key === "rail") { // links of no rail have the colour of their class
      const rail = new Int32Array(f.count).fill(-1);
      const rails = c.link_rail.reduce((x, y) => Math.max(x, y), -1) + 1;
      for (let i = 0; i < of.length; i++) {
        of[i] = c.link_rail[i] >= 0 ? c.link_rail[i] : rails + c.link_class[i];
        if (c.link_rail[i] >= 0) rail[f.linkB[i]] = rail[f.linkB[i]] === -1 || rail[f.linkB[i]] === c.link_rail[i] ? c.link_rail[i] : -2;
      }
      return { what: "Rail", of, count: rails + f.header.classes.length, name: (v) => (v < rails ? `rail ${v}` : f.header.classes[v - rails]), colour: (v) => draw.colour(v), device: (d) => (rail[d] >= 0 ? draw.colour(rail[d]) : draw.ink.cell) };
    }
    if (key === "change") {
      const devices = new Map();
      for (const m of f.marks) {
        const v = m.kind === "removed" ? 1 : m.kind === "added" ? 2 : 0;
        for (const i of v ? m.links : []) of[i] = v;
        for (const d of v ? m.devices : []) devices.set(d, v);
      }
      const colour = (v) => [draw.ink.soft, draw.ink.mark, draw.ink.good][v];
      return { what: "Change", of, count: 3, name: (v) => ["unchanged", "removed", "added"][v], colour, device: (d) => (devices.has(d) ? colour(devices.get(d)) : draw.ink.cell) };
    }
    const mark = f.marks[Number(key.slice(4))];
    for (const i of mark.links) of[i] = 1;
    const hit = new Set(mark.devices);
    return { what: mark.title, of, count: 2, name: (v) => (v ? mark.title : "other links"), colour: (v) => (v ? draw.ink.mark : draw.ink.soft), device: (d) => (hit.has(d) ? draw.ink.mark : draw.ink.cell) };
  }

  setColour(name, shown = true) {
    this.colour = name;
    document.getElementById("colour").value = name;
    document.getElementById("mark-pick").hidden = name !== "mark";
    if (name === "mark") document.getElementById("mark").value = this.mark.index;
    this.recolour();
    if (shown) this.refresh();
  }

  highlight(mark) {
    this.mark = mark;
    if (this.view !== "network") this.open(this.scope);
    this.selection = { kind: "mark", mark };
    this.setColour("mark");
  }

  // ---------------------------------------------------------------- selection
  select(what) {
    if (this.selection?.kind === "mark" && this.colour === "mark") this.setColour(this.plain, false);
    this.selection = what;
    if (what?.kind === "device" && this.view === "device") return this.openDevice(what.row);
    if (what && ["device", "link", "cable"].includes(what.kind) && this.view === "network") this.reveal(what);
    this.refresh();
    if (what) this.announce(document.querySelector("#selection h2")?.textContent ?? "");
  }

  // Opens a level on which a device is drawn.
  reveal(what) {
    const { f } = this;
    const ends = what.kind === "device" ? [what.row] : this.rowsOf(what).devices;
    if (ends.every((d) => this.scene.boxOf[d] < 0)) this.open({ names: [], at: 0 });
  }

  rowsOf(what) {
    const { f } = this;
    if (what.kind === "device") return { devices: [what.row], links: f.linksOf(what.row) };
    const links = what.kind === "link" ? [what.row] : f.linksOfLegs(f.legsOf(what.row));
    const ends = links.flatMap((i) => [f.linkA[i], f.linkB[i]]);
    if (what.kind === "cable") for (const k of f.legsOf(what.row)) ends.push(f.portDevice[f.columns.leg_a[k]], f.portDevice[f.columns.leg_b[k]]);
    return { devices: [...new Set(ends)], links };
  }

  get drawn() {
    const s = this.selection;
    const here = s && ["device", "link", "cable"].includes(s.kind) ? this.rowsOf(s) : null;
    const value = this.value;
    const drawing = this.drawing;
    const f = this.f;
    return {
      scene: this.scene, value: value.of, single: this.single && this.view === "network", focus: s?.kind === "bundle" ? s.bundle : s?.kind === "node" ? s.node : null,
      highlight: here ?? (this.colour === "mark" && this.mark ? this.markedRows() : null),
      boxesMarked: this.colour === "mark" && this.mark && this.scene.boxOf ? new Set(this.markedRows().devices.map((d) => this.scene.boxOf[d])) : null,
      valueColour: (v) => value.colour(v), deviceColour: (d) => value.device(d),
      dimmed: this.colour === "mark" ? (b) => b.value === 1 : null, faint: this.colour === "mark" ? (v) => v === 0 : null,
      heavy: this.colour === "mark" ? (b) => b.value === 1 : this.colour === "change" ? (b) => b.value > 0 : null,
      dimColours: (b) => dimensionLinks(f, b).map((i) => (i >= 0 ? value.colour(value.of[i]) : drawing.ink.soft)),
      acrossColour: (b) => (value.of[acrossLink(f, b)] < 0 ? null : value.colour(value.of[acrossLink(f, b)] ?? 0)),
    };
  }

  // The devices of a mark, with the ends of its links; single links where they are few.
  markedRows() {
    const { links, devices } = this.mark, { f } = this;
    const few = links.length <= 64;
    const ends = few ? links.flatMap((i) => [f.linkA[i], f.linkB[i]]) : [];
    return { links: few ? links : [], devices: [...new Set([...devices, ...ends])], colour: this.drawing.ink.mark };
  }

  refresh() {
    this.crumbs();
    this.legend();
    this.panel.showSelection();
    this.panel.showFindings();
    this.panel.showContents();
    this.paint();
    this.write();
  }

  paint() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.drawing.paint(this.drawn);
    });
  }

  announce(text) {
    document.getElementById("status").textContent = text;
  }

  // ---------------------------------------------------------------- above and below the drawing
  crumbs() {
    const nav = document.getElementById("crumbs");
    const out = [element("button", { type: "button", onclick: () => this.open({ names: [], at: 0 }) }, "Fabric")];
    const names = this.scope.names;
    for (let k = 1; k <= names.length; k++) {
      const s = this.f.sets.find((x) => inside(x, names));
      const each = instances(s, names.length) / instances(s, k);
      const scope = { names: names.slice(0, k), at: Math.floor(this.scope.at / each) };
      out.push(element("span", { class: "sep", "aria-hidden": "true" }, "›"), element("button", { type: "button", onclick: () => this.open(scope) }, this.f.scopeName(scope)));
    }
    if (names.length && this.view === "network") {
      const n = instances(this.f.sets.find((x) => inside(x, names)), names.length);
      if (n > 1) out.push(element("button", { type: "button", "aria-label": "Previous instance", title: "Previous ([)", onclick: () => this.sibling(-1) }, "◂"), element("span", { class: "soft" }, `${this.scope.at + 1} of ${number(n)}`), element("button", { type: "button", "aria-label": "Next instance", title: "Next (])", onclick: () => this.sibling(1) }, "▸"));
    }
    if (this.view === "device") out.push(element("span", { class: "sep", "aria-hidden": "true" }, "›"), element("span", {}, this.f.deviceName(this.scene.device)));
    if (this.view === "hall") out.push(element("span", { class: "sep", "aria-hidden": "true" }, "›"), element("span", {}, "racks"));
    nav.replaceChildren(...out);
    for (const [id, on] of [["single", this.single], ["unfold", this.unfold > 0], ["hall", this.view === "hall"]]) document.getElementById(id)?.setAttribute("aria-pressed", on);
  }

  buttons() {
    const make = (id, text, title, onclick) => element("button", { type: "button", id, title, "aria-pressed": "false", onclick }, text);
    const toggle = (id) => () => {
      if (id === "single") this.single = !this.single;
      else this.unfold = this.unfold ? 0 : 1;
      if (this.view !== "network" || id === "unfold") this.open(this.scope);
      else this.refresh();
    };
    const out = [make("single", "Single links", "Draw every link (l)", toggle("single"))];
    if (this.f.children({ names: [], at: 0 }).some((c) => c.group && c.count > 1 && c.count <= UNFOLDED)) out.push(make("unfold", "Unfold groups", "Draw equal groups apart (u)", toggle("unfold")));
    if (this.f.header.places) out.push(make("hall", "Racks", "The hall and its racks (r)", () => (this.view === "hall" ? this.open(this.scope) : this.openHall())));
    document.getElementById("views").replaceChildren(...out);
  }

  legend() {
    const list = document.getElementById("legend");
    const own = this.scene?.legend?.();
    if (own) {
      list.replaceChildren(...own.map(([colour, text]) => element("li", {}, element("i", { style: `background:${colour}` }), text)));
      return;
    }
    const counts = (this.whole.links ??= this.whole.of.reduce((n, v) => (v >= 0 ? n[v]++ : 0, n), new Int32Array(this.whole.count)));
    const all = [...counts.keys()].filter((v) => counts[v]);
    const item = (v) => {
      const name = this.whole.name(v), shown = !this.hidden.has(name);
      return element("li", {}, element("button", { type: "button", class: "key", "aria-pressed": shown, title: shown ? `Hide ${name}` : `Show ${name}`, onclick: () => this.toggle(name) },
        element("i", { style: `background:${this.whole.colour(v)}` }), `${name}: ${number(counts[v])}`));
    };
    list.replaceChildren(...all.slice(0, 24).map(item), ...(all.length > 24 ? [element("li", { class: "soft" }, `and ${all.length - 24} more`)] : []));
  }

  setTheme(name) {
    document.documentElement.dataset.theme = name;
    document.getElementById("theme").textContent = name === "dark" ? "Light" : "Dark";
    this.drawing.theme();
    if (this.scene) this.refresh();
  }

  // ---------------------------------------------------------------- address of the page
  write() {
    const parts = [];
    const s = this.selection;
    if (this.scope.names.length) parts.push(`open=${this.scope.names.join(".")}:${this.scope.at}`);
    if (this.colour !== this.plain && s?.kind !== "mark") parts.push(`colour=${this.colour}`);
    if ((this.f.network ?? -1) >= 0) parts.push(`network=${encodeURIComponent(this.f.header.networks[this.f.network])}`);
    if (this.view !== "network") parts.push(`view=${this.view}`);
    if (s?.kind === "mark") parts.push(`mark=${s.mark.index}`);
    if (s?.kind === "device") parts.push(`device=${encodeURIComponent(this.f.deviceName(s.row))}`);
    if (s?.kind === "cable") parts.push(`cable=${encodeURIComponent(this.f.cableName(this.f.legsOf(s.row)[0]))}`);
    const hash = parts.length ? `#${parts.join("&")}` : "";
    if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname + location.search);
  }

  follow(hash) {
    const given = new Map(hash.slice(1).split("&").filter(Boolean).map((x) => x.split("=")).map(([k, v]) => [k, decodeURIComponent(v ?? "")]));
    const network = (this.f.header.networks ?? []).indexOf(given.get("network"));
    if (network >= 0) this.setNetwork(network);
    const open = given.get("open");
    if (open) {
      const [names, at] = open.split(":");
      const scope = { names: names.split("."), at: Number(at) };
      const s = this.f.sets.find((x) => inside(x, scope.names));
      if (s && scope.at < instances(s, scope.names.length)) this.open(scope);
    }
    if (given.has("theme")) this.setTheme(given.get("theme"));
    if (given.has("unfold") || given.has("single")) {
      this.unfold = given.has("unfold") ? 1 : 0;
      this.single = given.has("single");
      this.open(this.scope);
    }
    const option = [...document.getElementById("colour").options].find((o) => o.value === given.get("colour"));
    if (option && !option.disabled) this.setColour(option.value);
    if (given.get("view") === "hall" && this.f.header.places) this.openHall();
    const mark = this.f.marks[Number(given.get("mark") ?? -1)];
    if (mark) this.highlight(mark);
    for (const kind of ["device", "cable"]) {
      const hit = given.has(kind) ? this.f.search(given.get(kind)).find((h) => h.kind === kind && h.text === given.get(kind)) : null;
      if (hit && given.get("view") === "device") this.openDevice(hit.row);
      else if (hit) this.select({ kind, row: hit.row });
    }
  }

  // ---------------------------------------------------------------- pointer and keys
  listen() {
    const { canvas } = this.drawing;
    let from = null;
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      from = { x: e.offsetX, y: e.offsetY, view: { ...this.drawing.view }, moved: false };
    });
    canvas.addEventListener("pointermove", (e) => {
      if (from) {
        const [dx, dy] = [e.offsetX - from.x, e.offsetY - from.y];
        if (!from.moved && Math.hypot(dx, dy) < 4) return;
        from.moved = true;
        Object.assign(this.drawing.view, { x: from.view.x + dx, y: from.view.y + dy });
        this.drawing.moved = true;
        this.tip(null);
        this.paint();
      } else this.tip(e);
    });
    canvas.addEventListener("pointerup", (e) => {
      const click = from && !from.moved;
      from = null;
      if (click) this.click(e.offsetX, e.offsetY);
    });
    canvas.addEventListener("pointerleave", () => this.tip(null));
    canvas.addEventListener("dblclick", (e) => this.enter(this.drawing.hit(this.drawn, e.offsetX, e.offsetY)));
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.drawing.zoomAt(e.offsetX, e.offsetY, Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)));
      this.paint();
    }, { passive: false });
    new ResizeObserver(() => {
      this.drawing.resize();
      if (!this.scene) return;
      if (!this.drawing.moved) this.drawing.fit(this.scene.bounds);
      this.drawing.paint(this.drawn); // at once: resizing has cleared the canvas
    }).observe(document.getElementById("stage"));
    document.getElementById("zoom").addEventListener("click", (e) => this.zoom(e.target.dataset.zoom));
    for (const kind of ["svg", "png"]) document.getElementById(kind).addEventListener("click", () => saveDrawing(this, kind));
    document.getElementById("print").addEventListener("click", () => window.print());
    window.addEventListener("beforeprint", () => layOutPrint(this));
    window.addEventListener("afterprint", () => document.getElementById("printed").replaceChildren());
    document.getElementById("colour").addEventListener("change", (e) => this.setColour(e.target.value));
    document.getElementById("network").addEventListener("change", (e) => this.setNetwork(Number(e.target.value)));
    document.getElementById("mark").addEventListener("change", (e) => this.highlight(this.f.marks[Number(e.target.value)]));
    document.getElementById("theme").addEventListener("click", () => this.setTheme(this.drawing.dark ? "light" : "dark"));
    document.addEventListener("keydown", (e) => this.key(e));
    window.addEventListener("hashchange", () => this.follow(location.hash));
    new Search(this);
  }

  zoom(how) {
    const { drawing } = this;
    if (how === "fit") drawing.fit(this.scene.bounds);
    else if (how) drawing.zoomAt(drawing.w / 2, drawing.h / 2, how === "in" ? 1.4 : 1 / 1.4);
    this.paint();
  }

  click(x, y) {
    const hit = this.drawing.hit(this.drawn, x, y);
    if (hit.select) this.select(hit.select);
    else if (hit.device !== undefined) this.select({ kind: "device", row: hit.device });
    else if (hit.bundle) this.select({ kind: "bundle", bundle: hit.bundle });
    else if (hit.node) this.select({ kind: "node", node: hit.node });
    else this.select(null);
  }

  // What a double click or Enter does: one level down.
  enter(hit) {
    const s = this.selection;
    if (hit.zoom) {
      this.drawing.fit(hit.zoom, 6);
      this.drawing.moved = true;
      return this.paint();
    }
    if (hit.group !== undefined) return this.open({ names: [hit.node.set.parts[0][0]], at: hit.group });
    if (hit.device !== undefined) return this.openDevice(hit.device);
    const scope = hit.node?.frame ? hit.node.scope : hit.node?.opens;
    if (scope && scope.names.length && !hit.node.open) return this.open(scope);
    if (s?.kind === "device") this.openDevice(s.row);
  }

  tip(e) {
    const tip = document.getElementById("tip");
    const hit = e ? this.drawing.hit(this.drawn, e.offsetX, e.offsetY) : {};
    const text = hit.tip ?? (hit.device !== undefined ? `${this.f.deviceName(hit.device)}\n${this.f.model(hit.device).name}`
      : hit.bundle ? `${hit.bundle.a.title} – ${hit.bundle.b.title}\n${hit.bundle.text} (${this.value.name(hit.bundle.value)})`
      : hit.group !== undefined ? this.f.scopeName({ names: [hit.node.set.parts[0][0]], at: hit.group }) : "");
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    tip.style.left = `${Math.min(e.offsetX + 14, this.drawing.w - 180)}px`;
    tip.style.top = `${e.offsetY + 16}px`;
    this.drawing.canvas.style.cursor = "pointer";
  }

  key(e) {
    if (e.target.closest("input, select, textarea") || e.ctrlKey || e.metaKey || e.altKey) return;
    const onCanvas = e.target === this.drawing.canvas;
    if (e.target.closest("button, summary") && ["Enter", " "].includes(e.key)) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (step && onCanvas) this.step(step);
    else if (e.key === "Enter" && onCanvas) this.enter(this.selection?.kind === "node" ? { node: this.selection.node } : {});
    else if (e.key === "Escape" || e.key === "Backspace") this.up();
    else if (e.key === "/") document.getElementById("query").focus();
    else if (e.key === "+" || e.key === "=") this.zoom("in");
    else if (e.key === "-") this.zoom("out");
    else if (e.key === "0") this.zoom("fit");
    else if (e.key === "l") document.getElementById("single").click();
    else if (e.key === "u") document.getElementById("unfold")?.click();
    else if (e.key === "r") document.getElementById("hall")?.click();
    else if (e.key === "d") document.getElementById("theme").click();
    else if (e.key === "[") this.sibling(-1);
    else if (e.key === "]") this.sibling(1);
    else return;
    e.preventDefault();
  }

  // The next frame, box or bundle of the drawing, as the arrow keys ask for it.
  step(by) {
    if (!this.scene.frames) return;
    const all = [...this.scene.frames.map((node) => ({ kind: "node", node })), ...this.scene.boxes.map((node) => ({ kind: "node", node })), ...this.scene.bundles.filter((b) => b.a !== b.b).map((bundle) => ({ kind: "bundle", bundle }))];
    const s = this.selection;
    const at = all.findIndex((x) => s && (x.node ? x.node === s.node : x.bundle === s.bundle));
    this.select(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length]);
  }
}

// A link inside a declaration for each dimension of its grid, -1 where there is none: the colours of its lines.
function dimensionLinks(f, b) {
  const s = b.set;
  if (s._dims) return s._dims;
  const grid = s.shape.grid;
  const axes = s.shape.axes;
  const out = grid.map(() => -1);
  let missing = grid.length;
  const at = (d) => {
    let row = d - s.first;
    if (!axes.length) return [...grid].reverse().map((n) => { const here = row % n; row = Math.floor(row / n); return here; }).reverse();
    const x = f.indices(s, row);
    return axes.map((g) => g.reduce((v, k) => v * s.axes[k][1] + x[k] - s.axes[k][0], 0));
  };
  for (let i = 0; i < f.linkCount && missing; i++) {
    const [x, y] = [f.linkA[i], f.linkB[i]];
    if (x < s.first || x >= s.first + s.count || y < s.first || y >= s.first + s.count) continue;
    const [p, q] = [at(x), at(y)];
    const k = p.findIndex((v, j) => v !== q[j]);
    if (k >= 0 && out[k] < 0) {
      out[k] = i;
      missing--;
    }
  }
  return (s._dims = out);
}

// A link between two groups of a circle.
function acrossLink(f, b) {
  const s = b.set, each = b.glyph.each;
  if (s._across === undefined) {
    s._across = f.linkA.findIndex((x, i) => f._setOf[x] === s.index && f._setOf[f.linkB[i]] === s.index && Math.floor((x - s.first) / each) !== Math.floor((f.linkB[i] - s.first) / each));
  }
  return s._across;
}

// The list of what a search finds; arrow keys and Enter choose.
class Search {
  constructor(app) {
    this.app = app;
    this.query = document.getElementById("query");
    this.list = document.getElementById("hits");
    this.at = 0;
    this.query.addEventListener("input", () => this.find());
    this.query.addEventListener("keydown", (e) => this.key(e));
    this.query.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    document.getElementById("search").addEventListener("submit", (e) => {
      e.preventDefault();
      this.choose(this.at);
    });
  }

  find() {
    this.hits = this.app.f.search(this.query.value);
    this.at = 0;
    this.list.replaceChildren(...this.hits.map((h, i) => {
      const item = element("li", { role: "option", id: `hit${i}`, "aria-selected": i === 0 }, h.text, element("small", {}, h.note));
      item.addEventListener("mousedown", (e) => {
        e.preventDefault();
        this.choose(i);
      });
      return item;
    }));
    if (!this.hits.length && this.query.value.trim()) this.list.append(element("li", { class: "soft" }, "nothing found"));
    this.list.hidden = !this.list.children.length;
    this.query.setAttribute("aria-expanded", String(!this.list.hidden));
    this.mark();
  }

  mark() {
    [...this.list.children].forEach((x, i) => x.setAttribute("aria-selected", i === this.at));
    this.list.children[this.at]?.scrollIntoView({ block: "nearest" });
    if (this.hits?.length) this.query.setAttribute("aria-activedescendant", `hit${this.at}`);
    else this.query.removeAttribute("aria-activedescendant");
  }

  key(e) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by && this.hits?.length) {
      this.at = (this.at + by + this.hits.length) % this.hits.length;
      this.mark();
      e.preventDefault();
    } else if (e.key === "Escape") {
      this.close();
      this.query.blur();
    }
  }

  choose(i) {
    const hit = this.hits?.[i];
    if (!hit) return;
    this.close();
    this.app.select({ kind: hit.kind, row: hit.row });
  }

  close() {
    this.list.hidden = true;
    this.query.setAttribute("aria-expanded", "false");
  }
}

const app = new App();
app.started = app.start();
app.started.catch((fault) => {
  document.getElementById("status").textContent = `The page cannot be shown: ${fault.message}`;
  document.getElementById("selection").textContent = `The page cannot be shown: ${fault.message}. It needs a browser of 2023 or later.`;
  throw fault;
});
