// All that fabric.json says, as the page computes it.
const f = app.f, c = f.columns, n = f.linkCount;
const at = (p) => [f.deviceName(f.portDevice[p]), f.port(p, "path")];
return {
  devices: [...Array(f.count).keys()].filter((d) => f.built[d]).map((d) => [f.deviceName(d), f.devicePath(d), f.model(d).name]),
  links: [...Array(n).keys()].map((i) => [...at(c.link_a[i]), ...at(c.link_b[i]), f.header.rates[c.link_rate[i]],
    f.header.classes[c.link_class[i]], c.link_leg[i] < 0 ? null : f.cableName(c.link_leg[i]),
    c.link_rail[i] < 0 ? null : c.link_rail[i], c.via_a && c.via_a[i] >= 0 ? f.deviceName(f.portDevice[c.via_a[i]]) : null]),
  cables: [...c.leg_a.keys()].map((k) => [f.cableName(k), c.leg_number[k] || null, ...at(c.leg_a[k]), ...at(c.leg_b[k])]),
  addresses: [...Array(f.count).keys()].flatMap((d) => f.addresses("loopback", d).map((a) => [f.deviceName(d), a]))
    .concat([...Array(n).keys()].flatMap((i) => [false, true].flatMap((s) =>
      f.addresses("links", i, s).map((a) => [at(s ? c.link_b[i] : c.link_a[i])[0], a])))),
};
