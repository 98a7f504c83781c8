// The panel: what is selected, what the drawing shows as a list, findings and figures. All text goes in as text, never as HTML.

const SHOWN = 100; // rows of a table before "show more"

function element(name, given = {}, ...inside) {
  const out = document.createElement(name);
  for (const [k, v] of Object.entries(given)) {
    if (k === "onclick") out.addEventListener("click", v);
    else if (v !== undefined && v !== null) out.setAttribute(k, v);
  }
  out.append(...inside.filter((x) => x !== null && x !== undefined).map((x) => (x instanceof Node ? x : String(x))));
  return out;
}

function link(text, onclick) {
  return element("button", { type: "button", class: "link", onclick }, text);
}

function facts(rows) {
  const body = rows.filter(([, v]) => v !== "" && v !== null && v !== undefined && !(Array.isArray(v) && !v.length));
  return element("table", {}, ...body.map(([k, v]) => element("tr", {}, element("th", { scope: "row" }, k), element("td", {}, ...(Array.isArray(v) ? v.flatMap((x, i) => (i ? [element("br"), x] : [x])) : [v])))));
}

// A table whose rows are made when they are shown.
function listing(head, count, row) {
  const body = element("tbody");
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...head.map((h) => element("th", { scope: "col" }, h)))), body);
  let at = 0;
  const more = element("button", { type: "button", onclick: () => grow() });
  const grow = () => {
    for (const end = Math.min(at + SHOWN, count); at < end; at++) body.append(element("tr", {}, ...row(at).map((x) => element("td", {}, x))));
    more.textContent = `Show more (${number(count - at)} left)`;
    more.hidden = at >= count;
  };
  grow();
  return element("div", {}, table, more);
}

class Panel {
  constructor(app) {
    this.app = app;
    this.at = Object.fromEntries(["changes", "selection", "contents", "findings", "figures"].map((id) => [id, document.getElementById(id)]));
  }

  device(d) {
    return link(this.app.f.deviceName(d), () => this.app.select({ kind: "device", row: d }));
  }

  cable(leg) {
    return link(this.app.f.cableName(leg), () => this.app.select({ kind: "cable", row: this.app.f.columns.leg_cable[leg] }));
  }

  end(p) {
    const { f } = this.app;
    return element("span", {}, this.device(f.portDevice[p]), ` ${f.port(p, "hole") || f.port(p, "path")}`);
  }

  // ---------------------------------------------------------------- what is selected
  showSelection() {
    const { app } = this;
    const s = app.selection;
    const parts = s === null ? [] : this[`show_${s.kind}`](s);
    this.at.selection.replaceChildren(...parts);
    if (s) this.at.selection.prepend(element("button", { type: "button", style: "float:right", "aria-label": "Clear the selection", title: "Clear (Escape)", onclick: () => app.select(null) }, "×"));
  }

  show_device({ row: d }) {
    const { f } = this.app;
    const c = f.columns, m = f.model(d), s = f.setOf(d);
    const links = f.linksOf(d);
    const place = c.device_rack && c.device_rack[d] >= 0 ? f.header.places.racks[c.device_rack[d]] : "";
    const asn = c.asn.length ? c.asn[d] >>> 0 : 0;
    const kind = { ocs: "optical switch", panel: "patch panel" }[s.kind] ?? s.kind;
    const inside = s.inside >= 0 ? f.sets[s.inside].first + Math.floor((d - s.first) / (s.count / f.sets[s.inside].count)) : -1;
    return [
      element("h2", {}, f.deviceName(d)),
      facts([
        ["Path", f.devicePath(d)], ["Kind", kind + (s.role ? ` (${s.role})` : "")], ["Model", m.title && m.title !== m.name ? `${m.name}: ${m.title}` : m.name],
        ["Inside", inside >= 0 ? this.device(inside) : ""],
        ["Tier", c.tier[d] >= 0 ? c.tier[d] : ""], ["Plane", c.plane[d] >= 0 ? c.plane[d] : ""],
        ["Rack", place ? link(`${f.header.places.halls[c.rack_hall[c.device_rack[d]]].name} ${place}${c.device_unit[d] ? ` U${c.device_unit[d]}` : ""}`, () => this.app.openHall(c.device_rack[d])) : ""],
        ["Loopback", f.addresses("loopback", d)], ["Management", f.addresses("management", d)], ["BMC", f.addresses("bmc", d)], ["ASN", asn || ""],
        ["Ports", `${number(links.length)} of ${number(m.ports)} in use`],
      ]),
      this.app.view === "device" ? null : element("p", {}, element("button", { type: "button", onclick: () => this.app.openDevice(d) }, "Open the ports")),
      links.length ? listing(["Port", "Connected to", "Rate", "Cable"], links.length, (i) => this.linkRow(links[i], d)) : element("p", { class: "soft" }, "No links."),
    ].filter(Boolean);
  }

  linkRow(i, d) {
    const { f } = this.app;
    const { link_a: a, link_b: b, link_leg: near, link_leg_b: far, link_rate: rate } = f.columns;
    const mine = f.linkA[i] === d || f.linkB[i] !== d ? a[i] : b[i], other = mine === a[i] ? b[i] : a[i];
    const leg = far && mine === b[i] ? far[i] : near[i];
    return [link(f.port(mine, "label") || f.port(mine, "path"), () => this.app.select({ kind: "link", row: i })), this.end(other), gbps(f.header.rates[rate[i]]), leg >= 0 ? this.cable(leg) : ""];
  }

  show_link({ row: i }) {
    const { f } = this.app;
    const c = f.columns, leg = c.link_leg[i], far = c.link_leg_b ? c.link_leg_b[i] : leg;
    const via = c.via_a && c.via_a[i] >= 0 ? f.portDevice[c.via_a[i]] : -1;
    const rail = c.link_rail[i];
    return [
      element("h2", {}, `Link ${f.deviceName(f.linkA[i])} – ${f.deviceName(f.linkB[i])}`),
      facts([
        ["End a", this.end(c.link_a[i])], ["", f.addresses("links", i)], ["End b", this.end(c.link_b[i])], [" ", f.addresses("links", i, true)],
        ["Via", via >= 0 ? this.device(via) : ""],
        ["Network", f.header.networks ? f.header.networks[c.link_network[i]] : ""],
        ["Rate", gbps(f.header.rates[c.link_rate[i]])], ["Class", f.header.classes[c.link_class[i]]], ["Rail", rail >= 0 ? rail : ""],
        ["Cable", leg >= 0 ? this.cable(leg) : "none: inside the chassis"], ["Far cable", far >= 0 && far !== leg ? this.cable(far) : ""],
      ]),
    ];
  }

  show_cable({ row }) {
    const { f } = this.app;
    const c = f.columns, legs = f.legsOf(row), links = f.linksOfLegs(legs);
    const first = legs[0];
    const each = (name) => [...new Set(legs.map((k) => f.fact(name, k)).filter((x) => x !== ""))].join(", ");
    const length = each("length_m");
    return [
      element("h2", {}, `Cable ${f.cableName(first)}`),
      facts([
        ["Class", f.header.classes[c.leg_class[first]]], ["Part", each("part")], ["Length", length === "" ? "" : `${length} m`], ["Medium", each("medium")],
        ["Optic at a", each("a_optic")], ["Optic at b", each("b_optic")], ["Colour", each("colour")],
        ["Legs", legs.length > 1 ? legs.length : ""],
      ]),
      listing(["End a", "End b"], legs.length, (k) => [this.place(c.leg_a[legs[k]]), this.place(c.leg_b[legs[k]])]),
      element("h2", {}, `${number(links.length)} ${links.length === 1 ? "link" : "links"}`),
      listing(["End a", "End b", "Rate"], links.length, (k) => {
        const i = links[k];
        const end = (p, second) => element("span", {}, this.end(p), ...f.addresses("links", i, second).flatMap((x) => [element("br"), x]));
        return [end(c.link_a[i], false), end(c.link_b[i], true), gbps(f.header.rates[c.link_rate[i]])];
      }),
    ];
  }

  // An end of a cable with the rack that it is in.
  place(p) {
    const { f } = this.app;
    const { device_rack: rack, device_unit: unit } = f.columns;
    const d = f.portDevice[p];
    const where = rack && rack[d] >= 0 ? ` (${f.header.places.racks[rack[d]]}${unit[d] ? ` U${unit[d]}` : ""})` : "";
    return element("span", {}, this.end(p), where);
  }

  show_bundle({ bundle }) {
    const { app } = this;
    const { f } = app;
    const links = linksOfBundle(app.scene, bundle, app.value.of);
    const c = f.columns;
    return [
      element("h2", {}, `${bundle.a.title} – ${bundle.b.title}`),
      facts([["Links", number(links.length)], [app.value.what, app.value.name(bundle.value)], ["Capacity", gbps(links.reduce((n, i) => n + f.header.rates[c.link_rate[i]], 0))]]),
      listing(["End a", "End b", "Cable"], links.length, (k) => [this.end(c.link_a[links[k]]), this.end(c.link_b[links[k]]), c.link_leg[links[k]] >= 0 ? this.cable(c.link_leg[links[k]]) : ""]),
    ];
  }

  show_node({ node }) {
    const { app } = this;
    const { f } = app;
    const name = node.frame ? node.label : `${node.title}: ${node.sub}`;
    const opens = node.frame ? node.scope : node.opens;
    const out = [element("h2", {}, name)];
    if (opens && opens.names.length && !node.open) out.push(element("p", {}, element("button", { type: "button", onclick: () => app.open(opens) }, opens.folded > 1 ? `Open ${f.scopeName(opens)}` : "Open")));
    if (!node.frame) {
      out.push(facts([
        ["Model", f.model(node.devices[0]).title || f.model(node.devices[0]).name], ["Ratio", node.ratio ?? ""],
        ["Links inside", node.insideLinks ? number(node.insideLinks) : ""],
      ]), listing(["Device"], node.devices.length, (k) => [this.device(node.devices[k])]));
    }
    return out;
  }

  show_mark({ mark }) {
    const { app } = this;
    const { f } = app;
    const m = mark;
    return [
      element("h2", {}, m.title), m.text ? element("p", {}, m.text) : null,
      m.links.length ? element("p", {}, `${number(m.links.length)} ${m.links.length === 1 ? "link" : "links"}`) : null,
      m.links.length ? listing(["End a", "End b"], m.links.length, (k) => [this.end(f.columns.link_a[m.links[k]]), this.end(f.columns.link_b[m.links[k]])]) : null,
      m.devices.length ? listing([`${number(m.devices.length)} ${m.devices.length === 1 ? "device" : "devices"}`], m.devices.length, (k) => [this.device(m.devices[k])]) : null,
    ].filter(Boolean);
  }

  show_rack({ row }) {
    const { f } = this.app;
    const c = f.columns, places = f.header.places;
    const inside = [];
    for (let d = 0; d < f.count; d++) if (c.device_rack[d] === row && f.built[d]) inside.push(d);
    inside.sort((x, y) => c.device_unit[y] - c.device_unit[x]);
    return [
      element("h2", {}, `Rack ${places.racks[row]}`),
      facts([["Hall", places.halls[c.rack_hall[row]].name], ["Height", places.height[row] ? `${places.height[row]}U` : ""], ["Devices", number(inside.length)]]),
      listing(["Unit", "Device", "Model"], inside.length, (k) => {
        const d = inside[k], u = c.device_unit[d], h = f.model(d).height;
        return [u ? (h > 1 ? `${u}–${u + h - 1}` : u) : "", this.device(d), f.model(d).name];
      }),
    ];
  }

  // ---------------------------------------------------------------- lists
  showContents() {
    const { app } = this;
    if (!app.scene.frames) {
      this.at.contents.replaceChildren();
      return;
    }
    const item = (n) => element("li", {},
      link(n.frame ? n.label : `${n.title}: ${n.sub}${n.ratio ? `, ${n.ratio}` : ""}`, () => app.select({ kind: "node", node: n })),
      n.frame && !n.open ? element("span", {}, " ", link("open", () => app.open(n.scope))) : null,
      n.frame ? element("ul", {}, ...n.children.map(item)) : null);
    const top = [...app.scene.frames, ...app.scene.boxes].filter((n) => !n.within);
    const links = app.scene.bundles.filter((b) => b.a !== b.b);
    this.at.contents.replaceChildren(
      element("h2", {}, "In this drawing"), element("ul", {}, ...top.map(item)),
      element("details", {}, element("summary", {}, `${number(links.length)} ${links.length === 1 ? "bundle" : "bundles"} of links`),
        element("ul", {}, ...links.slice(0, 300).map((b) => element("li", {}, link(`${b.a.title} – ${b.b.title}: ${b.text}`, () => app.select({ kind: "bundle", bundle: b })))))),
    );
  }

  showFindings() {
    const { app } = this;
    const order = (r) => (r.status === "refuted" ? 0 : r.status === "skipped" ? 4 : r.required ? 1 : 2);
    const results = app.f.header.results ?? [];
    const marks = app.f.marks.filter((m) => m.kind !== "witness").sort((x, y) => (y.severity === "error") - (x.severity === "error"));
    const here = (m) => (app.selection?.kind === "mark" && app.selection.mark === m ? "here" : "");
    const name = (r) => (app.f.marks[r.mark] ? link(r.name, () => app.highlight(app.f.marks[r.mark])) : element("b", {}, r.name));
    this.at.findings.replaceChildren(...(results.length || marks.length ? [element("h2", {}, "Requirements and findings")] : []),
      element("ul", {},
        ...marks.map((m) => element("li", { class: `${m.severity === "error" || m.kind === "fault" ? "bad " : ""}${here(m)}` }, link(m.title, () => app.highlight(m)), m.text && m.text !== m.title ? element("div", { class: "soft" }, m.text) : null)),
        ...marks.length && results.length ? [element("li", { class: "rule" })] : [],
        ...[...results].sort((a, b) => order(a) - order(b)).map((r) => element("li", { class: r.mark >= 0 ? here(app.f.marks[r.mark]) : "" },
          element("span", { class: `status ${r.status}${r.required ? " required" : ""}` }, r.status), " ", name(r),
          element("div", { class: "soft" }, r.text)))));
  }

  showChanges() {
    const lines = this.app.f.header.changes ?? [];
    this.at.changes.replaceChildren(...(lines.length ? [element("h2", {}, "What changes"), ...lines.map((x) => element("p", {}, x))] : []));
  }

  showFigures() {
    const { f } = this.app;
    const rows = Object.entries(f.header.figures ?? {}).map(([k, v]) => [k, typeof v === "number" ? number(v) : v]);
    this.at.figures.replaceChildren(element("h2", {}, "Figures"), facts(rows.map(([k, v]) => [k, v])),
      element("p", { class: "soft" }, `${f.header.name}, written by tdsl ${f.header.tdsl}`));
  }
}
