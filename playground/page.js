// The page of the playground: an editor, and what tdsl answers about its text. Python runs in worker.js.
"use strict";

const $ = (id) => document.getElementById(id);
const FIRST = "design.fab";
const WELCOME = `# Change a number, and look at what is proved.
fabric pod "Rail-optimised pod" {
  param units: int = 2 where 1 <= units <= 4

  group su[units] {
    host node[16]: DGX_H100
    switch leaf[8]: QM9700
    connect node[n].nic[r] to leaf[r]  # rail r of every node connects to leaf r
  }

  switch spine[8]: QM9700
  connect su[*].leaf[*] to spine[*] spread x 16

  require reachability and rail_alignment
  require oversubscription <= 1:1
  require edge_redundancy >= 8
}
`;
const PAUSE_MS = 500; // after the last key, before the text is checked

const state = { files: { [FIRST]: WELCOME }, open: FIRST, findings: [], busy: null, asked: 0, checked: "" };

// ---------------------------------------------------------------- Python

let worker = null;
let waiting = new Map();

function startWorker() {
  worker?.terminate();
  for (const { refuse } of waiting.values()) refuse(new Error("stopped"));
  waiting = new Map();
  worker = new Worker("worker.js");
  worker.onmessage = ({ data }) => {
    if (data.state) return onState(data);
    if (data.first) return showFirst(data);
    const one = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.fault) one?.refuse(new Error(data.fault));
    else one?.give({ ...data, asked: one.asked });
  };
  worker.onerror = (event) => onState({ state: "failed", reason: event.message });
}

function onState({ state: phase, ms, reason }) {
  document.body.dataset.state = phase;
  const words = { Python: "Loading Python …", tdsl: "Loading tdsl …", text: "Loading proofs …", ready: `Ready (${((ms ?? 0) / 1000).toFixed(1)} s)` };
  showState(phase === "failed" ? `Could not start: ${reason}` : words[phase]);
}

function askTdsl(command) {
  const id = ++state.asked;
  return new Promise((give, refuse) => {
    waiting.set(id, { give, refuse, asked: JSON.stringify(state.files) });
    worker.postMessage({ id, command, files: state.files });
  });
}

// One question at a time; while one is answered, the last that comes meanwhile waits.
let next = null;
async function runCommand(command) {
  if (state.busy) {
    next = command;
    return;
  }
  state.busy = command;
  const later = setTimeout(() => ($("stop").hidden = false), 1000);
  if (document.body.dataset.state === "ready") showState(`${command} …`);
  try {
    showAnswer(await askTdsl(command));
  } catch (fault) {
    if (fault.message !== "stopped") showFault(`tdsl did not answer: ${fault.message}`);
  } finally {
    clearTimeout(later);
    $("stop").hidden = true;
    state.busy = null;
    document.dispatchEvent(new CustomEvent("answered", { detail: command }));
  }
  if (next) {
    const command = next;
    next = null;
    await runCommand(command);
  }
}

// ---------------------------------------------------------------- answers

function showState(text) {
  $("state").textContent = text;
}

function showFault(text) {
  $("missing").hidden = !text;
  $("missing").textContent = text;
}

// Errors of the text, before the rest of tdsl is loaded; the answer has them again.
function showFirst({ id, first }) {
  if (!waiting.has(id)) return;
  state.findings = first;
  state.checked = waiting.get(id).asked;
  showFindings();
}

function showAnswer({ command, told, ms, asked }) {
  showState(`${command}: ${(ms / 1000).toFixed(1)} s`);
  showFault(told.missing);
  const prints = told.output + (told.errors && told.errors !== told.output ? told.errors : "");
  if (command === "view" && told.page) return showPage(told.page);
  if (command === "fmt") {
    if (told.status === 0) setText(told.text);
    else showOutput(prints);
    return;
  }
  if (command === "expand" && told.status === 0) return showOutput(told.output);
  if (command === "check") {
    state.findings = told.report ? findingsOf(JSON.parse(told.report)) : [];
    state.checked = asked;
    showFindings();
  }
  showOutput(prints);
}

function findingsOf(report) {
  const all = report.designs.flatMap((design) => design.findings);
  const seen = new Set();
  return all.filter((one) => {
    const key = JSON.stringify([one.code, one.file, one.line, one.column, one.message]);
    return !seen.has(key) && seen.add(key);
  });
}

function showOutput(text) {
  $("page").hidden = true;
  $("output").hidden = false;
  $("output").replaceChildren();
  for (const line of text.split("\n")) {
    const row = document.createElement("span");
    const status = /^\s*(proved|refuted)\b/.exec(line);
    if (status) row.className = status[1];
    row.textContent = line + "\n";
    $("output").append(row);
  }
}

let shown = "";
function showPage(html) {
  // Inside the frame the address is nobody's to keep.
  const page = html.replace("<head>", "<head><script>history.replaceState = () => {};</script>");
  URL.revokeObjectURL(shown);
  shown = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  $("page").src = shown;
  $("page").hidden = false;
  $("output").hidden = true;
}

const lineOf = (one) => (one.file === null || baseName(one.file) in state.files ? one.line : null);
const baseName = (file) => file.replace(/^\/design\//, "");

function showFindings() {
  $("findings").replaceChildren();
  for (const one of state.findings) {
    const box = document.createElement("div");
    box.className = `finding ${one.severity}`;
    const place = document.createElement("button");
    place.className = "place";
    place.textContent = lineOf(one) ? `${baseName(one.file)}:${one.line}:${one.column}` : (one.file ?? "");
    place.onclick = () => goTo(one);
    const head = document.createElement("p");
    const code = document.createElement("b");
    code.textContent = `${one.severity} ${one.code}`;
    head.append(code, ` ${one.message} `, place);
    box.append(head);
    for (const text of [...one.notes, one.help].filter(Boolean)) {
      const more = document.createElement("p");
      more.textContent = text;
      box.append(more);
    }
    if (one.fix && one.fix.edits.every((edit) => baseName(edit.file) in state.files)) {
      const fix = document.createElement("button");
      fix.className = "fix";
      fix.textContent = `Fix: ${one.fix.title}`;
      fix.onclick = () => applyFix(one.fix);
      box.append(fix);
    }
    $("findings").append(box);
  }
  draw();
}

function goTo(one) {
  if (!lineOf(one)) return;
  openFile(baseName(one.file));
  const from = offsetAt($("text").value, one.line, one.column);
  const to = offsetAt($("text").value, one.end_line, one.end_column);
  $("text").focus();
  $("text").setSelectionRange(from, to);
  $("text").scrollTop = Math.max(0, (one.line - 5) * 19);
}

// Columns count characters, as tdsl does; offsets here count UTF-16 units.
function offsetAt(text, line, column) {
  let at = 0;
  for (let i = 1; i < line; i++) {
    const end = text.indexOf("\n", at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  for (let i = 1; i < column && at < text.length; i++) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

function applyFix(fix) {
  if (JSON.stringify(state.files) !== state.checked) return runCommand("check"); // places of another text
  const edits = fix.edits.map((edit) => {
    const name = baseName(edit.file);
    const at = (line, column) => offsetAt(state.files[name], line, column);
    return { name, from: at(edit.line, edit.column), to: at(edit.end_line, edit.end_column), text: edit.text };
  });
  for (const { name, from, to, text } of edits.sort((a, b) => b.from - a.from)) {
    state.files[name] = state.files[name].slice(0, from) + text + state.files[name].slice(to);
  }
  openFile(state.open);
  return runCommand("check");
}

// ---------------------------------------------------------------- the editor

const WORD = new RegExp(
  `(?<comment>#[^\\n]*)|(?<string>"(?:\\\\.|[^"\\\\\\n])*"?)|(?<number>\\b\\d[\\d_.]*(?:[A-Za-z/%]+)?)|(?<word>\\b(?:${WORDS.join("|")})\\b)`,
  "g",
);
const CLASSES = { comment: "c", string: "s", number: "n", word: "k" };

function spanOf(text, name) {
  const span = document.createElement("span");
  span.className = name;
  span.textContent = text;
  return span;
}

// A line in colours. Marks are [from, to, severity] in offsets of the line.
function colouredLine(line, marks) {
  const pieces = [];
  let at = 0;
  for (const found of line.matchAll(WORD)) {
    const kind = Object.keys(CLASSES).find((name) => found.groups[name] !== undefined);
    pieces.push([at, found.index, ""], [found.index, found.index + found[0].length, CLASSES[kind]]);
    at = found.index + found[0].length;
  }
  pieces.push([at, line.length, ""]);
  const cuts = marks.flatMap(([from, to]) => [from, to]);
  return pieces.flatMap(([from, to, name]) => {
    const inner = [from, ...cuts.filter((c) => c > from && c < to).sort((a, b) => a - b), to];
    return inner.slice(1).flatMap((end, i) => {
      const begin = inner[i];
      if (begin === end) return [];
      const part = name ? spanOf(line.slice(begin, end), name) : document.createTextNode(line.slice(begin, end));
      const mark = marks.find(([x, y]) => x <= begin && end <= y);
      if (!mark) return [part];
      const box = document.createElement("mark");
      box.className = mark[2];
      box.append(part);
      return [box];
    });
  });
}

function draw() {
  const lines = $("text").value.split("\n");
  const current = JSON.stringify(state.files) === state.checked;
  const here = state.findings.filter((one) => current && lineOf(one) && baseName(one.file) === state.open && one.severity !== "note");
  const at = new Map();
  for (const one of here) at.set(one.line, [...(at.get(one.line) ?? []), one]);
  const numbers = document.createDocumentFragment();
  const coloured = document.createDocumentFragment();
  lines.forEach((line, i) => {
    const found = at.get(i + 1) ?? [];
    const worst = found.some((one) => one.severity === "error") ? "error" : found.length ? "warning" : "";
    numbers.append(worst ? spanOf(String(i + 1), worst) : String(i + 1), "\n");
    const marks = found.map((one) => [
      offsetAt(line, 1, one.column), one.end_line > one.line ? line.length : offsetAt(line, 1, one.end_column), one.severity,
    ]);
    coloured.append(...colouredLine(line, marks));
    if (found.length) coloured.append(spanOf(`    ${found[0].code}: ${found[0].message}`, `lens ${worst}`));
    coloured.append("\n");
  });
  $("numbers").replaceChildren(numbers);
  $("coloured").replaceChildren(coloured);
  scroll();
}

function scroll() {
  $("coloured").scrollTop = $("numbers").scrollTop = $("text").scrollTop;
  $("coloured").scrollLeft = $("text").scrollLeft;
}

function openFile(name) {
  state.open = name;
  $("text").value = state.files[name];
  const names = Object.keys(state.files);
  $("tabs").replaceChildren(
    ...(names.length < 2 ? [] : names).map((each) => {
      const tab = document.createElement("button");
      tab.textContent = each;
      tab.setAttribute("aria-pressed", String(each === name));
      tab.onclick = () => openFile(each);
      return tab;
    }),
  );
  draw();
}

function setText(text) {
  const scrolled = $("text").scrollTop;
  state.files[Object.keys(state.files)[0]] = text;
  openFile(Object.keys(state.files)[0]);
  $("text").scrollTop = scrolled;
  return runCommand("check");
}

// ---------------------------------------------------------------- addresses

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

// #code= is base64url of deflate of JSON: {name: text}, the design first.
async function addressOfFiles(files) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(files)), new CompressionStream("deflate-raw"));
  const text = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  return `#code=${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

async function filesOfAddress(code) {
  const bytes = Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const files = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
  const whole = Object.entries(files).length && Object.entries(files).every(([, text]) => typeof text === "string");
  if (!whole) throw new Error("no files");
  return files;
}

async function openDesign(name) {
  const response = await fetch(`designs/${encodeURIComponent(name)}.fab`);
  if (!response.ok) return showFault(`the library has no design ${name}`);
  state.files = { [`${name}.fab`]: await response.text() };
  openFile(`${name}.fab`);
  return runCommand("check");
}

async function followAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("code")) {
    try {
      state.files = await filesOfAddress(given.get("code"));
    } catch {
      showFault("the address holds no design: part of it may have been cut off");
    }
    openFile(Object.keys(state.files)[0]);
    await runCommand("check");
  } else if (given.has("design")) {
    await openDesign(given.get("design"));
  } else {
    openFile(Object.keys(state.files)[0]);
    await runCommand("check");
  }
}

async function share() {
  const address = await addressOfFiles(state.files);
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(location.href);
    showState("The address holds this text; it is in the clipboard");
  } catch {
    showState("The address of this page holds this text");
  }
}

// ---------------------------------------------------------------- start

let pause = 0;
$("text").addEventListener("input", () => {
  state.files[state.open] = $("text").value;
  draw();
  clearTimeout(pause);
  pause = setTimeout(() => runCommand("check"), PAUSE_MS);
});
$("text").addEventListener("scroll", scroll);
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    runCommand("check");
  } else if (event.key === "Tab" && !event.shiftKey && !event.altKey && !event.ctrlKey && $("text").value) {
    event.preventDefault();
    document.execCommand("insertText", false, "  ");
  }
});
for (const command of ["check", "fmt", "expand", "view"]) $(command).onclick = () => runCommand(command);
$("share").onclick = share;
$("stop").onclick = () => {
  next = null;
  startWorker();
};
$("designs").onchange = ({ target }) => {
  if (target.value) location.hash = `design=${target.value}`;
  target.value = "";
};
window.addEventListener("hashchange", followAddress);
fetch("designs.json")
  .then((response) => response.json())
  .then((designs) => {
    for (const { name, title } of designs) {
      const option = document.createElement("option");
      option.value = name;
      option.textContent = title ? `${name}: ${title}` : name;
      $("designs").append(option);
    }
  });
startWorker();
followAddress();
