// The page: takes a bundle, has it checked by a worker beside it, and says what was proven.
(function () {
  "use strict";

  const FILES = JSON.parse(document.getElementById("files").textContent); // name: bytes as they are sent
  const words = new URLSearchParams(location.search);
  const at = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat();
  let worker = null;
  let working = false; // one list at a time: an answer belongs to the list that was asked for last
  let loaded = false; // whether the worker has Python

  // -- what is fetched: the parts of the program, and a list that the address names, both from this site alone --------

  async function unpacked(packed) {
    // Some servers send .gz as what it holds, and the browser has unpacked it already.
    if (packed[0] !== 0x1f || packed[1] !== 0x8b) return packed;
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  async function received(address, arrived) {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${address} cannot be had (${answer.status})`);
    const reader = answer.body.getReader();
    const parts = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      arrived(part.value.length);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  async function program() {
    const total = Object.values(FILES).reduce((sum, size) => sum + size, 0);
    const files = {};
    let done = 0;
    const arrived = (size) => { done += size; show("load", done, total * 1.15); }; // the rest is starting Python
    for (const name of Object.keys(FILES)) {
      const embedded = at(`file-${name}`);
      const packed = embedded
        ? Uint8Array.from(atob(embedded.textContent), (letter) => letter.charCodeAt(0))
        : await received(`${name}.gz`, arrived);
      files[name] = await unpacked(packed);
    }
    return files;
  }

  // Only of this site: whoever makes a link here cannot have another one asked.
  function ownAddress(word) {
    if (!word) return null;
    const address = new URL(word, location.href);
    return address.origin === location.origin && address.protocol.startsWith("http") ? address.href : null;
  }

  // -- the check ------------------------------------------------------------------------------------------------------

  function show(step, done, total) {
    const line = document.querySelector(`[data-step="${step}"] progress`);
    line.max = total || 1;
    line.value = done;
    line.textContent = `${Math.round((100 * done) / (total || 1))} %`;
  }

  function begin() {
    at("choose").hidden = true;
    at("verdict").hidden = true;
    at("work").hidden = false;
    ["signature", "entries", "replay"].forEach((step) => show(step, 0, 1));
    ["key", "head"].forEach((name) => { at(`${name}-fault`).textContent = ""; });
  }

  function end() {
    working = false;
    at("work").hidden = true;
    at("choose").hidden = false;
  }

  function stop() {
    if (worker) worker.terminate();
    worker = null;
    loaded = false;
    end();
  }

  async function check(bundle) {
    working = true;
    try {
      if (!window.crypto || !crypto.subtle)
        throw new Error("the browser verifies signatures only on pages that came by https, or that lie on this computer");
      let files = null;
      if (!worker) {
        files = await program();
        const source = new Blob([files["worker.js"]], { type: "text/javascript" });
        worker = new Worker(URL.createObjectURL(source));
      }
      const answer = await new Promise((resolve, reject) => {
        worker.onerror = (event) => reject(new Error(event.message || "the worker cannot be started"));
        worker.onmessage = ({ data }) => {
          if (!loaded) { loaded = true; show("load", 1, 1); }
          if (data.step) show(data.step, data.done, data.total);
          else resolve(data);
        };
        worker.postMessage({ files, bundle, key: at("key").value, head: at("head").value });
      });
      if (answer.failed) throw new Error(answer.failed);
      say(answer.verdict);
    } catch (error) {
      stop();
      failed(error.message);
    }
  }

  async function checkFile(file) {
    if (!file || working) return;
    working = true;
    begin();
    check(await file.arrayBuffer());
  }

  // -- what is said ---------------------------------------------------------------------------------------------------

  function element(name, text, inner) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    (inner || []).forEach((each) => made.appendChild(each));
    return made;
  }

  function verdict(kind, title, parts) {
    const box = at("verdict");
    box.className = kind;
    box.replaceChildren(element("h2", title), ...parts);
    box.hidden = false;
    box.focus();
  }

  function failed(message) {
    const old = /no Ed25519/.test(message)
      ? "This browser cannot verify Ed25519 signatures. Chrome 137, Firefox 129, Safari 17 and later ones can."
      : `${message}.`;
    verdict("open", "Not checked", [element("p", old), element("p", "Nothing was found true or false.")]);
  }

  function say(found) {
    end();
    if (found.refused) {
      const field = at(found.refused);
      at(`${found.refused}-fault`).textContent = found.why;
      field.closest("details").open = true;
      field.focus();
      return;
    }
    if (found.false.length) sayFalse(found);
    else if (found.notCompared) verdict("open", "Not compared", [element("p", `${found.notCompared}.`), proven(found)]);
    else sayTrue(found);
  }

  function sayFalse(found) {
    const [table, place, message] = found.false[0];
    if (table === "head") {
      verdict("false", "False: this history is not the one that you kept", [element("p", `${message}.`), element("p", "Keep your checkpoint and this file, and show both to others.")]);
      return;
    }
    const where = table === "journal" ? `entry ${place}` : table === "bundle" ? `the file, ${place}` : `${table}, ${/^\d+$/.test(place) ? "player " : ""}${place}`;
    const more = found.false.length > 1 ? [element("p", `${number.format(found.false.length)} faults were found; this is the first.`)] : [];
    verdict("false", `False: ${where}`, [
      element("p", `${table === "journal" ? "It " : ""}${message}.`), ...more,
      element("p", "Keep this file, and ask whoever published it. It may have been damaged on its way: get it once more."),
    ]);
  }

  function sayTrue(found) {
    const title = `True: all ${number.format(found.players)} ratings of ${found.list} follow from what was recorded`;
    verdict("true", title, [proven(found), unproven(found), rows(found)]);
  }

  function fact(name, value, code) {
    const text = element("dd", value);
    if (code) text.className = "code";
    return [element("dt", name), text];
  }

  function proven(found) {
    const facts = [
      ...fact("Signed by", found.origin),
      ...fact("Key", found.key, true),
      ...fact("Entries", `${number.format(found.entries)}, each hashed; together they have the signed root`),
      ...fact("Root", found.root, true),
    ];
    if (found.kept) facts.push(...fact("Since yours", `the first ${number.format(found.kept)} entries are those of the head that you kept`));
    if (!found.notCompared)
      facts.push(...fact("Calculated", `by the scheme ${found.scheme} from the first ${number.format(found.listEntries)} entries; compared to the last bit`));
    return element("div", null, [element("h3", "What was proven"), element("dl", null, facts)]);
  }

  function unproven(found) {
    const list = element("ul");
    if (!at("key").value.trim()) list.appendChild(element("li", `That the key is ${found.origin}'s: compare it with the one that they published elsewhere.`));
    if (!found.kept) list.appendChild(element("li", "That you see the same history as everybody else: keep the checkpoint, and give it here next time."));
    list.appendChild(element("li", "That the results are as they were played: look for your own games."));
    return element("div", null, [element("h3", "What this does not prove"), list]);
  }

  function rows(found) {
    const players = ownAddress(words.get("players"));
    const head = element("tr", null, ["Rank", "Player", "Rating", "Unrounded", "Games", "Last game"].map((name) => element("th", name)));
    head.querySelectorAll("th").forEach((cell) => cell.setAttribute("scope", "col"));
    const body = found.rows.map(([rank, player, shown, rating, games, last]) => {
      const link = element("a", player);
      if (players) link.href = `${players.replace(/\/?$/, "/")}${player}`;
      const cells = [rank, null, shown, rating, games, last || "–"].map((value) => element("td", value));
      cells[1].appendChild(players ? link : document.createTextNode(player));
      return element("tr", null, cells);
    });
    const table = element("table", null, [element("thead", null, [head]), element("tbody", null, body)]);
    const scroll = element("div", null, [table]);
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    const parts = [element("h3", "The list, as published and as calculated here"), scroll];
    if (found.players > found.rows.length) parts.push(element("p", `The first ${number.format(found.rows.length)} of ${number.format(found.players)} rows; all were compared.`));
    return element("div", null, parts);
  }

  // -- what the visitor does --------------------------------------------------------------------------------------------

  at("choose").hidden = false;
  const offered = ownAddress(words.get("bundle"));
  if (offered) {
    const name = (words.get("list") || "").slice(0, 80);
    if (name) at("offer").querySelector("button").textContent = `Check the list of ${name}`;
    const loading = Object.values(FILES).reduce((sum, size) => sum + size, 0);
    at("size").textContent = `Loads ${(loading / 1e6).toFixed(1)} MB, once.`;
    at("offer").hidden = false;
  }
  at("choose").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!offered || working) return;
    working = true;
    begin();
    try {
      const bundle = await received(offered, () => {});
      check(bundle.buffer);
    } catch (error) {
      stop();
      failed(error.message);
    }
  });
  if (offered && words.has("start")) at("choose").requestSubmit();
  at("file").addEventListener("change", () => { checkFile(at("file").files[0]); at("file").value = ""; });
  at("stop").addEventListener("click", stop);
  document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("over"); });
  document.addEventListener("dragleave", () => document.body.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("over");
    checkFile(event.dataTransfer.files[0]);
  });
})();
