// Prints what a grammar.js says, as tree-sitter writes it to src/grammar.json. node grammar_json.js FILE

const rule = (x) =>
  typeof x === "string" ? { type: "STRING", value: x } : x instanceof RegExp ? { type: "PATTERN", value: x.source } : x;
const many = (type) => (...members) => ({ type, members: members.map(rule) });
const one = (type) => (content) => ({ type, content: rule(content) });

Object.assign(globalThis, {
  seq: many("SEQ"),
  choice: many("CHOICE"),
  repeat: one("REPEAT"),
  repeat1: one("REPEAT1"),
  optional: (x) => choice(x, { type: "BLANK" }),
  field: (name, x) => ({ type: "FIELD", name, content: rule(x) }),
  alias: (x, as) => ({ type: "ALIAS", content: rule(x), named: typeof as !== "string", value: as.name || as }),
  grammar: ({ name, word, rules, extras, externals }) => {
    const $ = new Proxy({}, { get: (_, symbol) => ({ type: "SYMBOL", name: symbol }) });
    return {
      name,
      word: word($).name,
      rules: Object.fromEntries(Object.entries(rules).map(([name, make]) => [name, rule(make($))])),
      extras: extras($).map(rule),
      externals: externals($).map(rule),
    };
  },
});

console.log(JSON.stringify(require(require("path").resolve(process.argv[2]))));
