// Reads file names, one a line; prints for each a JSON list of [line, start, end, innermost scope], by VS Code's own engine.
const fs = require("fs");
const path = require("path");
const [modules, grammar] = process.argv.slice(2);
const { Registry, parseRawGrammar, INITIAL } = require(path.join(modules, "vscode-textmate"));
const oniguruma = require(path.join(modules, "vscode-oniguruma"));

async function main() {
  await oniguruma.loadWASM(fs.readFileSync(path.join(modules, "vscode-oniguruma", "release", "onig.wasm")).buffer);
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(grammar, "utf8"), grammar),
  });
  const fab = await registry.loadGrammar("source.fab");
  for (const name of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    let state = INITIAL;
    const out = [];
    fs.readFileSync(name, "utf8").split("\n").forEach((line, at) => {
      const { tokens, ruleStack } = fab.tokenizeLine(line, state);
      state = ruleStack;
      for (const t of tokens) out.push([at, t.startIndex, t.endIndex, t.scopes[1] || ""]);
    });
    console.log(JSON.stringify(out));
  }
}
main();
