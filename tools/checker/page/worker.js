// Runs Python beside the page. The page gives it all files; it fetches nothing, and forgets how to.
"use strict";

const NOWHERE = "https://nowhere.invalid/"; // the address at which Pyodide looks for its files: nobody has it
const LIBRARY = "/checker";
let files = {};
let python = null;
let ask = null; // the functions of in_browser.py

// Pyodide asks for its files by fetch: it is given what is here already, and nothing else.
self.fetch = async (address) => {
  const name = String(address && address.url ? address.url : address).replace(NOWHERE, "");
  if (!files[name]) throw new TypeError("nothing is fetched: " + name);
  const media = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(files[name], { headers: { "Content-Type": media } });
};

// Pyodide wants to be a module, which a page from the disk cannot give a worker; importing modules is all that it needs.
self.importScripts = undefined;

function module(name) {
  const address = URL.createObjectURL(new Blob([files[name]], { type: "text/javascript" }));
  return import(address).finally(() => URL.revokeObjectURL(address));
}

async function start() {
  const { loadPyodide } = await module("pyodide.mjs");
  const { default: createPyodideModule } = await module("pyodide.asm.mjs");
  const lockFileContents = JSON.parse(new TextDecoder().decode(files["pyodide-lock.json"]));
  python = await loadPyodide({ indexURL: NOWHERE, createPyodideModule, lockFileContents });
  python.unpackArchive(files["ledger.zip"], "zip", { extractDir: LIBRARY });
  python.runPython(`import sys; sys.path.insert(0, "${LIBRARY}")`);
  ask = python.pyimport("in_browser");
  files = {};
}

function bytes(hex) {
  return Uint8Array.from(hex.match(/../g) || [], (digits) => parseInt(digits, 16));
}

async function isTrue(publicKey, signature, text) {
  try {
    const key = await crypto.subtle.importKey("raw", bytes(publicKey), { name: "Ed25519" }, false, ["verify"]);
    return await crypto.subtle.verify({ name: "Ed25519" }, key, bytes(signature), bytes(text));
  } catch (error) {
    if (error.name === "NotSupportedError") throw new Error("no Ed25519");
    return false; // no point of the curve, no signature of 64 bytes
  }
}

async function verify(bundle) {
  for (const [publicKey, signature, text] of JSON.parse(ask.signatures(bundle)))
    if (await isTrue(publicKey, signature, text)) ask.trust(publicKey, signature, text);
}

self.onmessage = async ({ data }) => {
  const report = (step, done, total) => self.postMessage({ step, done, total });
  try {
    if (data.files) {
      files = data.files;
      await start();
    }
    const bundle = python.toPy(new Uint8Array(data.bundle));
    report("signature", 0, 1);
    await verify(bundle);
    report("signature", 1, 1);
    self.postMessage({ verdict: JSON.parse(ask.check(bundle, data.key, data.head, report)) });
  } catch (error) {
    self.postMessage({ failed: String((error && error.message) || error).trim().split("\n").pop() });
  }
};
