// A fabric as columns: what devices, ports, cables and addresses are called, and what is connected to what.

class Fabric {
  constructor({ header, columns }) {
    this.header = header;
    this.columns = columns;
    this.sets = header.sets;
    this.sets.forEach((s, i) => Object.assign(s, {
      index: i,
      path: s.parts.map((p) => p[0]).join("."),
      axes: s.parts.flatMap((p) => p[2]),
      name: s.parts[s.parts.length - 1][0],
    }));
    const { device_model: model, link_a: a, link_b: b } = columns;
    this.count = model.length;
    this.linkCount = a.length;
    this.portBase = new Int32Array(this.count + 1);
    for (let d = 0; d < this.count; d++) this.portBase[d + 1] = this.portBase[d] + header.models[model[d]].ports;
    const ports = this.portBase[this.count];
    this.portDevice = new Int32Array(ports);
    for (let d = 0; d < this.count; d++) this.portDevice.fill(d, this.portBase[d], this.portBase[d + 1]);
    this.linkA = new Int32Array(this.linkCount);
    this.linkB = new Int32Array(this.linkCount);
    for (let i = 0; i < this.linkCount; i++) {
      this.linkA[i] = this.portDevice[a[i]];
      this.linkB[i] = this.portDevice[b[i]];
    }
    this.built = new Uint8Array(this.count).fill(1);
    for (const d of columns.unbuilt) this.built[d] = 0;
  }

  // ---------------------------------------------------------------- devices
  setOf(d) {
    return this.sets.find((s) => d >= s.first && d < s.first + s.count);
  }

  // Indices of a row of a declaration along its axes, outermost first.
  indices(s, row) {
    const out = [];
    for (let k = s.axes.length - 1; k >= 0; k--) {
      out.unshift(s.axes[k][0] + (row % s.axes[k][1]));
      row = Math.floor(row / s.axes[k][1]);
    }
    return out;
  }

  // su0-leaf3: parts with their indices; a name that a group and what it holds share is written once.
  deviceName(d) {
    return this.header.names[d] ?? this.partsName(this.setOf(d), d - this.setOf(d).first, 99);
  }

  partsName(s, row, depth) {
    const at = this.indices(s, row);
    const out = s.prefix ? [s.prefix] : [];
    let before = "";
    let k = 0;
    for (const [name, kind, axes] of s.parts.slice(0, depth)) {
      if (kind === "network") continue; // the prefix says it
      const text = (name === before ? "" : name) + axes.map(() => at[k++]).join("-");
      if (text) out.push(text);
      before = name;
    }
    return out.join("-");
  }

  devicePath(d) {
    const s = this.setOf(d);
    const at = this.indices(s, d - s.first);
    let k = 0;
    return s.parts.map(([name, , axes]) => name + (axes.length ? `[${axes.map(() => at[k++]).join(", ")}]` : "")).join(".");
  }

  model(d) {
    return this.header.models[this.columns.device_model[d]];
  }

  // ---------------------------------------------------------------- ports
  port(p, what) {
    const d = this.portDevice[p];
    const { filled } = this.model(d);
    const names = filled?.[what] && this.filledPorts.has(p) ? filled : this.model(d);
    return names[what][p - this.portBase[d]];
  }

  // Ports whose cable has one plug for all sockets of the module.
  get filledPorts() {
    return (this._filledPorts ??= new Set(this.columns.filled_ports ?? []));
  }

  portText(p) {
    return `${this.deviceName(this.portDevice[p])} ${this.port(p, "hole") || this.port(p, "path")}`;
  }

  get portLink() {
    return (this._portLink ??= (() => {
      const out = new Int32Array(this.portDevice.length).fill(-1);
      const { link_a: a, link_b: b } = this.columns;
      for (let i = 0; i < this.linkCount; i++) out[a[i]] = out[b[i]] = i;
      return out;
    })());
  }

  // Rows of links at a device, or across it where it is a panel or an optical switch.
  linksOf(d) {
    const out = [];
    const link = this.portLink;
    for (let p = this.portBase[d]; p < this.portBase[d + 1]; p++) if (link[p] >= 0) out.push(link[p]);
    const { via_a: via, via_b: other } = this.columns;
    if (via) {
      for (let i = 0; i < this.linkCount; i++) {
        if ((via[i] >= 0 && this.portDevice[via[i]] === d) || (other[i] >= 0 && this.portDevice[other[i]] === d)) out.push(i);
      }
    }
    return out;
  }

  // ---------------------------------------------------------------- cables
  cableName(leg) {
    const p = this.columns.leg_lead[leg];
    return `${this.deviceName(this.portDevice[p])}:${this.port(p, "hole_id")}`;
  }

  legsOf(cable) {
    const { leg_cable: of } = this.columns;
    const out = [];
    for (let k = 0; k < of.length; k++) if (of[k] === cable) out.push(k);
    return out;
  }

  linksOfLegs(legs) {
    const wanted = new Set(legs);
    const { link_leg: near, link_leg_b: far } = this.columns;
    const out = [];
    for (let i = 0; i < near.length; i++) if (wanted.has(near[i]) || (far && wanted.has(far[i]))) out.push(i);
    return out;
  }

  get cableCount() {
    return (this._cableCount ??= new Set(this.columns.leg_cable).size);
  }

  fact(name, leg) {
    const of = this.columns[`fact_${name}`];
    return of ? this.header.facts[name][of[leg]] : "";
  }

  // ---------------------------------------------------------------- addresses
  addresses(kind, row, second = false) {
    const out = [];
    for (const version of [4, 6]) {
      const pool = this.columns[`pool_${kind}_${version}`];
      if (!pool || pool[row] < 0) continue;
      const p = this.header.pools[pool[row]];
      const value = BigInt(p.first) + BigInt(this.columns[`rank_${kind}_${version}`][row]) * BigInt(p.step) + (second ? 1n : 0n);
      out.push(`${version === 4 ? ipv4(value) : ipv6(value)}/${p.prefix}`);
    }
    return out;
  }

  // The device or link that has an address, as {kind, row}; null if none has.
  byAddress(text) {
    const found = parseIp(text.replace(/\/\d+$/, ""));
    if (!found) return null;
    for (const [k, p] of this.header.pools.entries()) {
      if (p.version !== found.version) continue;
      const from = found.value - BigInt(p.first);
      const rank = from / BigInt(p.step);
      if (from < 0n || rank > 0x7fffffffn) continue;
      const [pool, ranks] = [this.columns[`pool_${p.kind}_${p.version}`], this.columns[`rank_${p.kind}_${p.version}`]];
      for (let row = 0; pool && row < pool.length; row++) {
        if (pool[row] === k && ranks[row] === Number(rank)) return { kind: p.kind, row };
      }
    }
    return null;
  }

  // ---------------------------------------------------------------- search
  get deviceNames() {
    return (this._names ??= Array.from({ length: this.count }, (_, d) => this.deviceName(d)));
  }

  // Up to `most` devices, cables and addresses that a text names, exact ones first.
  search(text, most = 40) {
    const out = [];
    const query = text.trim();
    const low = query.toLowerCase();
    if (!low) return out;
    if (/^[0-9.]+(\/\d+)?$/.test(query) || query.includes("::") || /^[0-9a-f:]+\/\d+$/i.test(query)) {
      const hit = this.byAddress(query);
      if (hit) out.push(hit.kind === "links" ? { kind: "link", row: hit.row, text: query, note: "link" }
        : { kind: "device", row: hit.row, text: query, note: this.deviceName(hit.row) });
    }
    const colon = low.lastIndexOf(":");
    if (colon > 0) {
      const names = this.deviceNames;
      const { leg_lead: lead, leg_cable: cable } = this.columns;
      const wanted = low.slice(0, colon);
      const seen = new Set();
      for (let k = 0; k < lead.length && out.length < most; k++) {
        if (seen.has(cable[k]) || names[this.portDevice[lead[k]]].toLowerCase() !== wanted) continue;
        const name = this.cableName(k);
        if (!name.toLowerCase().startsWith(low)) continue;
        seen.add(cable[k]);
        out.push({ kind: "cable", row: cable[k], text: name, note: "cable" });
      }
    }
    const exact = [], start = [], part = [];
    this.deviceNames.forEach((name, d) => {
      if (!this.built[d]) return;
      const n = name.toLowerCase();
      const into = n === low ? exact : n.startsWith(low) ? start : part;
      if (into.length < most && (into !== part || n.includes(low))) into.push(d);
    });
    if (!exact.length && low.includes("[")) {
      for (let d = 0; d < this.count && !exact.length; d++) if (this.devicePath(d).toLowerCase() === low) exact.push(d);
    }
    for (const d of [...exact, ...start, ...part]) {
      if (out.length >= most) break;
      out.push({ kind: "device", row: d, text: this.deviceNames[d], note: this.model(d).name });
    }
    return out;
  }

  // ---------------------------------------------------------------- groups
  // What is directly inside an instance of a group: [{set}] for declarations and [{group, count, sets}] for groups.
  // A scope is {names, at}: the names of its groups, and which of all their instances it is.
  children(scope) {
    const depth = scope.names.length;
    const groups = new Map();
    const out = [];
    for (const s of this.sets) {
      if (!inside(s, scope.names) || !this.shows(s)) continue;
      if (s.parts.length - 1 === depth) out.push({ set: s });
      else {
        const [name, kind, axes] = s.parts[depth];
        if (!groups.has(name)) {
          groups.set(name, { group: name, kind, count: axes.reduce((n, x) => n * x[1], 1), axes, sets: [] });
          out.push(groups.get(name));
        }
        groups.get(name).sets.push(s);
      }
    }
    return out;
  }

  // Whether a declaration is drawn: of a cluster where one network is chosen, its own and what networks share.
  shows(s) {
    return (this.network ?? -1) < 0 || !s.prefix || s.prefix === this.header.networks[this.network];
  }

  // Rows of a declaration that are inside a scope.
  range(s, scope) {
    const each = s.count / instances(s, scope.names.length);
    return [s.first + scope.at * each, s.first + (scope.at + 1) * each];
  }

  scopeName(scope) {
    const s = this.sets.find((x) => inside(x, scope.names));
    return this.partsName(s, scope.at * (s.count / instances(s, scope.names.length)), scope.names.length);
  }
}

function inside(s, names) {
  return s.parts.length > names.length && names.every((n, i) => s.parts[i][0] === n);
}

function instances(s, depth) {
  return s.parts.slice(0, depth).flatMap((p) => p[2]).reduce((n, x) => n * x[1], 1);
}

function ipv4(value) {
  return [24n, 16n, 8n, 0n].map((k) => (value >> k) & 255n).join(".");
}

function ipv6(value) {
  const groups = Array.from({ length: 8 }, (_, k) => ((value >> BigInt(112 - 16 * k)) & 0xffffn).toString(16));
  const runs = [...groups.map((g) => (g === "0" ? "z" : "n")).join("").matchAll(/z{2,}/g)];
  if (!runs.length) return groups.join(":");
  const best = runs.reduce((x, y) => (y[0].length > x[0].length ? y : x));
  return `${groups.slice(0, best.index).join(":")}::${groups.slice(best.index + best[0].length).join(":")}`;
}

function parseIp(text) {
  if (/^\d+(\.\d+){3}$/.test(text)) {
    const parts = text.split(".").map(Number);
    return parts.every((x) => x < 256) ? { version: 4, value: parts.reduce((v, x) => v * 256n + BigInt(x), 0n) } : null;
  }
  if (!/^[0-9a-f:]+$/i.test(text) || !text.includes(":")) return null;
  const [left, right, more] = text.split("::");
  if (more !== undefined) return null;
  const [a, b] = [left, right].map((x) => (x ? x.split(":") : []));
  const missing = 8 - a.length - b.length;
  if (right === undefined ? missing !== 0 : missing < 0) return null;
  const all = [...a, ...Array(Math.max(missing, 0)).fill("0"), ...b];
  return all.every((g) => /^[0-9a-f]{1,4}$/i.test(g)) ? { version: 6, value: all.reduce((v, g) => (v << 16n) + BigInt(`0x${g}`), 0n) } : null;
}

function gbps(rate) {
  return rate >= 1e12 && rate % 1e11 === 0 ? `${rate / 1e12}T` : `${rate / 1e9}G`;
}

function number(n) {
  return n.toLocaleString("en");
}
