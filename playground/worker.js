// Python with tdsl, away from the thread that draws the page. A question is a message {id, command, files}; its answer
// has the same id. Errors of the text that are known before the first answer come by themselves, as {id, first}.
// `state` messages say how far the start is.
"use strict";

const start = performance.now();
const say = (state) => postMessage({ state, ms: Math.round(performance.now() - start) });

// The packed files: a header of lengths as JSON, then the bytes of each file (see pack.mjs).
async function fetchPack(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  const stream = response.body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function unpack(bytes, write) {
  const size = new DataView(bytes.buffer).getUint32(0, true);
  const files = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  let at = 4 + size;
  for (const [name, length] of files) {
    write(name, bytes.subarray(at, at + length));
    at += length;
  }
}

// Python begins with the memory that it had when the playground was made (see pack.mjs): tdsl is imported, but for what
// computes with numpy. That much tells what is wrong with a text.
async function startPython() {
  say("Python");
  const image = fetchPack("image.bin"); // all of them beside the start of Python
  const packed = fetchPack("packages.bin");
  packed.catch(() => {});
  importScripts("pyodide/pyodide.js");
  const python = await loadPyodide({
    indexURL: "pyodide/", _loadSnapshot: image, stdout: () => {}, stderr: (line) => console.warn(line),
  });
  say("tdsl");
  unpackInto(python, await packed);
  const playground = python.pyimport("playground");
  playground.begin_session();
  say("text");
  return { python, playground };
}

function unpackInto(python, bytes) {
  const made = new Set();
  unpack(bytes, (name, content) => {
    const folder = name.slice(0, name.lastIndexOf("/"));
    if (!made.has(folder)) python.FS.mkdirTree(folder);
    made.add(folder);
    python.FS.writeFile(name, content, { canOwn: true });
  });
  python.runPython("import importlib; importlib.invalidate_caches()");
}

// What proofs need.
async function startNumbers() {
  const { python } = await started;
  unpackInto(python, await fetchPack("numbers.bin"));
  python.runPython("import playground; playground.import_commands()");
  say("ready");
}

// HiGHS, for the designs whose figures need linear programs. It is loaded when the first of them is met.
async function startSolver(python) {
  importScripts("highs/highs.js");
  const load = self.Module ?? self.highs;
  const highs = await load({ locateFile: (name) => `highs/${name}` });
  const createModel = ({ starts, indices, values, ...rest }) => {
    const { numRows, numCols } = rest;
    return highs.createModel({ ...rest, matrix: { format: "csc", numRows, numCols, starts, indices, values } });
  };
  const solve = (model, options) => {
    model.options.set(options);
    model.run();
    const { colValue, rowDual } = model.getSolution();
    return [model.getModelStatus(), colValue, rowDual];
  };
  python.pyimport("highspy").connect_engine({ createModel, solve });
}

const fail = (fault) => postMessage({ state: "failed", reason: String(fault?.message ?? fault) });
const started = startPython();
let numbers = null;
let solver = null;

async function answerQuestion({ id, command, files }) {
  const { python, playground } = await started;
  const begin = performance.now();
  const question = JSON.stringify({ command, files });
  if (!numbers) {
    const errors = playground.find_first_errors(question);
    if (errors) postMessage({ id, first: JSON.parse(errors) });
    numbers = startNumbers();
    numbers.catch(fail);
  }
  await numbers;
  for (;;) {
    try {
      const told = JSON.parse(playground.answer_question(question));
      return { id, command, told, ms: Math.round(performance.now() - begin) };
    } catch (fault) {
      if (solver || !String(fault.message).includes("EngineAbsent")) throw fault;
      solver = startSolver(python);
      await solver;
    }
  }
}

started.catch(fail);
let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(() => answerQuestion(data)).then(postMessage, (fault) => {
    postMessage({ id: data.id, command: data.command, fault: String(fault?.message ?? fault).trim().split("\n").pop() });
  });
};
