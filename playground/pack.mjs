// Packs what the playground adds to Python: node pack.mjs FOLDER OUT PART...
//
// FOLDER has Pyodide; a part is a wheel, or a folder of modules. Python itself compiles each module here, so that no
// browser has to. Into the folder OUT go two packs and an image:
//
// - `numbers.bin` has numpy, which proofs need, and `packages.bin` all else, which tells what is wrong with a text.
//   A pack is gzip of: the length of a header in four bytes, the header (a list of [file, length] as JSON), and the
//   bytes of each file. The same parts give the same packs.
// - `image.bin` is gzip of the memory of Python after it has read a first design, without numpy: a browser begins
//   there. It is of this Pyodide alone.
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [folder, out, ...parts] = process.argv.slice(2);
const LEFT_OUT = /(^|\/)(tests?|f2py|distutils|_pyinstaller|include|bin)\/|\.(pyi|pxd|pyx|h|a|c)$|\.dist-info\/(?!METADATA|LICEN|licen)|^tdsl\/_data\/docs\//;
const OF_NUMPY = /^numpy[-.]|^numpy$/;
const FIRST = `fabric first {
  host node[16]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM97
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 16
  require reachability
}
`; // a design as they are, but for a name

const { loadPyodide } = await import(pathToFileURL(join(resolve(folder), "pyodide.mjs")).href);
const begin = (options) => loadPyodide({ indexURL: resolve(folder) + "/", env: { PYTHONHASHSEED: "0" }, ...options });
const python = await begin();
const SITE = python.runPython("import sysconfig; sysconfig.get_path('purelib')").replace("//", "/");
python.FS.mkdirTree("/parts");
for (const part of parts) {
  if (statSync(part).isDirectory()) {
    for (const name of readdirSync(part).filter((n) => n.endsWith(".py"))) {
      python.FS.writeFile(`${SITE}/${name}`, readFileSync(join(part, name)));
    }
  } else {
    python.FS.writeFile(`/parts/${basename(part)}`, readFileSync(part));
  }
}
python.globals.set("left_out", (name) => LEFT_OUT.test(name));
python.runPython(`
import compileall, os, py_compile, zipfile
for name in sorted(os.listdir("/parts")):
    with zipfile.ZipFile(f"/parts/{name}") as wheel:
        for entry in wheel.namelist():
            if not entry.endswith("/") and not left_out(entry):
                wheel.extract(entry, "${SITE}")
found = compileall.compile_dir("${SITE}", quiet=1, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
assert found, "a module does not compile"
`);
const walk = (at) =>
  python.FS.readdir(at).filter((name) => name !== "." && name !== "..").sort().flatMap((name) => {
    const path = `${at}/${name}`;
    return python.FS.isDir(python.FS.stat(path).mode) ? walk(path) : [[path, Buffer.from(python.FS.readFile(path))]];
  });
const zip = (name, ...pieces) => writeFileSync(join(out, name), gzipSync(Buffer.concat(pieces), { level: 9 }));
const pack = (name, files) => {
  const header = Buffer.from(JSON.stringify(files.map(([path, bytes]) => [path, bytes.length])));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(header.length);
  zip(name, size, header, ...files.map(([, bytes]) => bytes));
};
const files = walk(SITE);
const isNumpy = ([path]) => OF_NUMPY.test(path.slice(SITE.length + 1).split("/")[0]);
const others = files.filter((file) => !isNumpy(file));
mkdirSync(out, { recursive: true });
pack("numbers.bin", files.filter(isNumpy));
pack("packages.bin", others);

const young = await begin({ _makeSnapshot: true });
for (const [path, bytes] of others) {
  young.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
  young.FS.writeFile(path, bytes);
}
young.globals.set("first", JSON.stringify({ command: "check", files: { "first.fab": FIRST } }));
young.runPython(`
import gc, playground
playground.begin_session()
assert "E0102" in playground.find_first_errors(first), "the first design's error is not found"
import os, tdsl.cli, tdsl.commands.check
os.chdir("/")
del first
gc.collect()
`);
zip("image.bin", young.makeMemorySnapshot());
console.log(`${files.length} files`);
