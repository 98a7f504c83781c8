// search.js WORKER INDEX QUERY...: what the site's search finds, best first, by the site's own worker
const fs = require("fs");
const [worker, index, ...queries] = process.argv.slice(2);
const heard = [];
globalThis.self = globalThis;
let listen = null;
globalThis.addEventListener = (kind, f) => { if (kind === "message") listen = f; };
globalThis.postMessage = (m) => heard.push(m);
globalThis.location = { href: "file:///site/" };
globalThis.importScripts = () => {};
(0, eval)(fs.readFileSync(worker, "utf8"));
(async () => {
  const data = JSON.parse(fs.readFileSync(index, "utf8"));
  await listen({ data: { type: 0, data: { config: data.config, docs: data.docs, options: { suggest: false } } } });
  for (const q of queries) {
    heard.length = 0;
    await listen({ data: { type: 2, data: q } });
    const r = heard.find((m) => m.type === 3);
    console.log(JSON.stringify([q, r ? r.data.items.slice(0, 6).map((g) => g[0].location) : heard]));
  }
})();
