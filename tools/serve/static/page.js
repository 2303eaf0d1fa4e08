// What pages do beside what they say without it: times as the reader's clock has them, and the panel of the graph.
(function () {
  "use strict";

  var clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  document.querySelectorAll("time[datetime]").forEach(function (element) {
    var instant = new Date(element.getAttribute("datetime"));
    if (isNaN(instant) || instant.getTimezoneOffset() === 0) return;
    var here = document.createElement("span");
    here.className = "here";
    here.textContent = " (" + clock.format(instant) + " here)";
    element.appendChild(here);
  });

  var figure = document.getElementById("graph");
  var panel = document.getElementById("panel");
  if (!figure || !panel) return;
  var bars = Array.prototype.slice.call(figure.querySelectorAll(".rg a"));
  if (!bars.length) return;
  // On their days the newest is drawn last, to lie on top: here they stand as they are seen, from left to right.
  bars.sort(function (one, other) {
    return one.getBoundingClientRect().left - other.getBoundingClientRect().left;
  });
  var shown = null;
  var waiting = 0;

  function made(name, words) {
    var element = document.createElement(name);
    if (words !== undefined) element.textContent = words;
    return element;
  }

  // The title of a bar has all that is known of its game: its first line says which, each other one "term: words".
  function show(bar) {
    if (bar === shown) return;
    shown = bar;
    var title = bar.querySelector("title");
    var lines = title ? title.textContent.split("\n") : [];
    var facts = made("div");
    var head = made("h2");
    var link = made("a", lines.shift() || "");
    link.href = bar.getAttribute("href");
    head.appendChild(link);
    facts.appendChild(head);
    var list = made("dl");
    list.className = "facts";
    lines.forEach(function (line) {
      var colon = line.indexOf(": ");
      list.appendChild(made("dt", line.slice(0, colon)));
      list.appendChild(made("dd", line.slice(colon + 2)));
    });
    facts.appendChild(list);
    var board = made("img");
    board.alt = "";
    board.width = board.height = 168;
    panel.replaceChildren(board, facts);
    panel.hidden = false;
    window.clearTimeout(waiting);
    waiting = window.setTimeout(function () {
      var where = link.getAttribute("href");
      // A key that no address can have in it leads elsewhere first: its board is shown on the page of the game.
      if (where.indexOf(panel.dataset.game) !== 0) { board.remove(); return; }
      var key = where.slice(panel.dataset.game.length);
      var black = bar.parentNode.getAttribute("data-colour") === "black";
      board.src = panel.dataset.board + key + (black ? "?flipped=yes" : "");
    }, 150);
  }

  // Of all bars one is reached by the tabulator, from which the arrows lead to the others.
  function reach(bar) {
    bars.forEach(function (other) {
      other.setAttribute("tabindex", other === bar ? "0" : "-1");
    });
  }

  function barOf(event) {
    return event.target.closest ? event.target.closest(".rg a") : null;
  }

  figure.addEventListener("mouseover", function (event) {
    var bar = barOf(event);
    if (bar) show(bar);
  });
  figure.addEventListener("focusin", function (event) {
    var bar = barOf(event);
    if (!bar) return;
    reach(bar);
    show(bar);
  });
  figure.addEventListener("keydown", function (event) {
    var place = bars.indexOf(barOf(event));
    if (place < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    var steps = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: bars.length - 1 };
    var next = bars[steps[event.key]];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  figure.removeAttribute("tabindex");
  // Beside a second player's marks it is the player's own bars that come first.
  var first = bars.find(function (bar) { return bar.querySelector(".bar"); }) || bars[0];
  reach(first);
  show(first);
})();
