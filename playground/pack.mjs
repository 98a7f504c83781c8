// Packs what the playground adds to Python: node pack.mjs FOLDER OUT PART...
//
// FOLDER has Pyodide; a part is a wheel, or a folder of modules. Python itself compiles each module here, so that no
// browser has to. The pack is gzip of: the length of a header in four bytes, the header (a list of [file, length] as
// JSON), and the bytes of each file. The same parts give the same bytes.
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [folder, out, ...parts] = process.argv.slice(2);
const LEFT_OUT = /(^|\/)(tests?|f2py|distutils|_pyinstaller|include|bin)\/|\.(pyi|pxd|pyx|h|a|c)$|\.dist-info\/(?!METADATA|LICEN|licen)|^tdsl\/_data\/docs\//;

const { loadPyodide } = await import(pathToFileURL(join(resolve(folder), "pyodide.mjs")).href);
const python = await loadPyodide({ indexURL: resolve(folder) + "/" });
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
const files = [];
const walk = (at) => {
  for (const name of python.FS.readdir(at).sort()) {
    const path = `${at}/${name}`;
    if (name === "." || name === "..") continue;
    if (python.FS.isDir(python.FS.stat(path).mode)) walk(path);
    else files.push([path, Buffer.from(python.FS.readFile(path))]);
  }
};
walk(SITE);
const header = Buffer.from(JSON.stringify(files.map(([name, bytes]) => [name, bytes.length])));
const size = Buffer.alloc(4);
size.writeUInt32LE(header.length);
writeFileSync(out, gzipSync(Buffer.concat([size, header, ...files.map(([, bytes]) => bytes)]), { level: 9 }));
console.log(`${files.length} files`);
