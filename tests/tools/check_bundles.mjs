// Checks bundles by Pyodide in Node: node check_bundles.mjs PYODIDE ARCHIVE BUNDLE... prints a verdict a line.
import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";
import { pathToFileURL } from "node:url";

const [folder, archive, ...bundles] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide();
python.unpackArchive(new Uint8Array(readFileSync(archive)), "zip", { extractDir: "/checker" });
python.runPython("import sys; sys.path.insert(0, '/checker')");
const ask = python.pyimport("in_browser");
const bytes = (hex) => Uint8Array.from(hex.match(/../g), (digits) => parseInt(digits, 16));

for (const path of bundles) {
  const bundle = python.toPy(new Uint8Array(readFileSync(path)));
  for (const [publicKey, signature, text] of JSON.parse(ask.signatures(bundle))) {
    const key = await webcrypto.subtle.importKey("raw", bytes(publicKey), { name: "Ed25519" }, false, ["verify"]);
    if (await webcrypto.subtle.verify({ name: "Ed25519" }, key, bytes(signature), bytes(text)))
      ask.trust(publicKey, signature, text);
  }
  console.log(ask.check(bundle, "", "", () => {}));
}
