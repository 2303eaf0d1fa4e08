// What pages do beside what they say without it: times as the reader's clock has them, the panel of the graph, ranges.
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

  // Forms with data-at-once need no button: each choice applies as it is made.
  document.querySelectorAll("form[data-at-once]").forEach(function (form) {
    form.addEventListener("change", function () { form.requestSubmit(); });
  });

  // The replay: links lead to each position; here only the picture changes, and the arrows step through the game.
  var replay = document.querySelector(".replay");
  if (replay) {
    var picture = replay.querySelector("img");
    var links = Array.prototype.slice.call(document.querySelectorAll(".moves a[data-move]"));
    var steps = {
      first: function () { return 0; }, back: function (move) { return Math.max(move - 1, 0); },
      forward: function (move) { return Math.min(move + 1, links.length); }, last: function () { return links.length; }
    };
    var keys = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };
    var goTo = function (move) {
      replay.dataset.move = move;
      picture.src = replay.dataset.board + "?move=" + move;
      picture.alt = move ? "Position after " + links[move - 1].textContent : "Before the first move";
      links.forEach(function (link, place) {
        if (place + 1 === move) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
      });
      replay.querySelectorAll("[data-clock]").forEach(function (clock) {
        var side = Number(clock.dataset.clock);
        var known = links.filter(function (link, place) {
          return place < move && place % 2 === side && link.dataset.clock;
        });
        clock.textContent = known.length ? known[known.length - 1].dataset.clock : "–";
      });
    };
    document.addEventListener("click", function (event) {
      var link = event.target.closest ? event.target.closest("a[data-step], .moves a[data-move]") : null;
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      goTo(link.dataset.step ? steps[link.dataset.step](Number(replay.dataset.move)) : Number(link.dataset.move));
    });
    document.addEventListener("keydown", function (event) {
      if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      var focused = document.activeElement;
      if (focused && focused !== document.body && !focused.closest(".replay, .moves")) return;
      event.preventDefault();
      goTo(steps[keys[event.key]](Number(replay.dataset.move)));
    });
  }

  // Of elements in a row one is reached by the tabulator, from which the arrows lead to the others.
  function rove(elements) {
    function reach(element) {
      elements.forEach(function (other) { other.setAttribute("tabindex", other === element ? "0" : "-1"); });
    }
    elements.forEach(function (element, place) {
      element.addEventListener("focus", function () { reach(element); });
      element.addEventListener("keydown", function (event) {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        var steps = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: elements.length - 1 };
        var next = elements[steps[event.key]];
        if (!next) return;
        event.preventDefault();
        next.focus();
      });
    });
    return reach;
  }

  function fromTheLeft(elements) {
    var places = new Map(elements.map(function (each) { return [each, each.getBoundingClientRect().left]; }));
    return elements.sort(function (one, other) { return places.get(one) - places.get(other); });
  }

  // A range of a career by dragging, with mouse or finger, or by the keys of its two handles.
  function offerRange(figure, svg, words) {
    var knots = svg.dataset.knots.split(" ").map(function (knot) { return knot.split(",").map(Number); });
    var ends = [knots[0][0], knots[knots.length - 1][0]];
    var chosen = ends.slice();
    var hint = "Drag over the line to choose a time.";
    var base = Number(svg.dataset.base);
    var links = fromTheLeft(Array.prototype.slice.call(svg.querySelectorAll("a")));
    if (links.length) rove(links)(links[0]);

    function part(height, kind) {
      var element = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      Object.keys(kind).forEach(function (name) { element.setAttribute(name, kind[name]); });
      element.setAttribute("y", base - height);
      element.setAttribute("height", height);
      svg.appendChild(element);
      return element;
    }

    var area = part(base - svg.dataset.top, { "class": "window", "pointer-events": "none", visibility: "hidden" });
    var handles = ["Beginning", "End"].map(function (name) {
      var label = name + " of the time";
      return part(18, { "data-handle": "", width: 7, rx: 3, tabindex: 0, role: "slider", "aria-label": label });
    });

    function dayAt(x) {
      var after = Math.max(1, knots.findIndex(function (knot) { return knot[0] >= x; }));
      var one = knots[after - 1];
      var other = knots[after] || one;
      var share = other[0] === one[0] ? 0 : (x - one[0]) / (other[0] - one[0]);
      return Math.round(one[1] + (other[1] - one[1]) * share);
    }

    function written(day) { return new Date(day * 864e5).toISOString().slice(0, 10); }

    function isWhole() { return chosen[0] === ends[0] && chosen[1] === ends[1]; }

    function draw() {
      var days = chosen.map(dayAt);
      area.setAttribute("x", chosen[0]);
      area.setAttribute("width", chosen[1] - chosen[0]);
      area.setAttribute("visibility", isWhole() ? "hidden" : "visible");
      handles.forEach(function (handle, side) {
        handle.setAttribute("x", chosen[side] - 3.5);
        handle.setAttribute("aria-valuemin", dayAt(ends[0]));
        handle.setAttribute("aria-valuemax", dayAt(ends[1]));
        handle.setAttribute("aria-valuenow", days[side]);
        handle.setAttribute("aria-valuetext", written(days[side]));
      });
      words.textContent = isWhole() ? hint : written(days[0]) + " to " + written(days[1]);
    }

    function show() {
      var address = figure.dataset.range;
      var range = "since=" + written(dayAt(chosen[0])) + "&until=" + written(dayAt(chosen[1]));
      location.href = isWhole() ? address : address + (address.indexOf("?") < 0 ? "?" : "&") + range;
    }

    function place(event) {
      var frame = svg.getBoundingClientRect();
      var x = (event.clientX - frame.left) / frame.width * svg.viewBox.baseVal.width;
      return Math.min(Math.max(x, ends[0]), ends[1]);
    }

    var pressed = null;
    var isDragged = false;
    svg.addEventListener("pointerdown", function (event) {
      if (event.button !== 0) return;
      var side = handles.indexOf(event.target);
      pressed = { from: side < 0 ? place(event) : chosen[1 - side], at: event.clientX };
      isDragged = false;
    });
    svg.addEventListener("pointermove", function (event) {
      if (pressed === null || !isDragged && Math.abs(event.clientX - pressed.at) < 6) return;
      if (!isDragged) svg.setPointerCapture(event.pointerId);
      isDragged = true;
      var x = place(event);
      chosen = [Math.min(pressed.from, x), Math.max(pressed.from, x)];
      draw();
    });
    svg.addEventListener("pointerup", function () {
      pressed = null;
      if (isDragged) show();
    });
    svg.addEventListener("pointercancel", function () {
      pressed = null;
      isDragged = false;
      chosen = ends.slice();
      draw();
    });
    svg.addEventListener("click", function (event) { if (isDragged) event.preventDefault(); }, true);
    svg.addEventListener("dragstart", function (event) { event.preventDefault(); });
    svg.addEventListener("keydown", function (event) {
      var side = handles.indexOf(event.target);
      if (side < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
      var step = (ends[1] - ends[0]) / (event.shiftKey ? 10 : 50);
      var limits = [side === 0 ? ends[0] : chosen[0], side === 0 ? chosen[1] : ends[1]];
      var to = {
        ArrowLeft: chosen[side] - step, ArrowDown: chosen[side] - step, ArrowRight: chosen[side] + step,
        ArrowUp: chosen[side] + step, Home: limits[0], End: limits[1], Escape: ends[side]
      }[event.key];
      if (event.key === "Enter") show();
      else if (to === undefined) return;
      else chosen[side] = Math.min(Math.max(to, limits[0]), limits[1]);
      event.preventDefault();
      draw();
    });
    draw();
  }

  document.querySelectorAll("figure[data-range]").forEach(function (figure) {
    var drawings = figure.querySelectorAll("svg[data-knots]");
    if (!drawings.length) return;
    var words = made("p");
    words.className = "range-words";
    words.setAttribute("role", "status");
    figure.classList.add("ranged");
    figure.after(words);
    drawings.forEach(function (svg) { offerRange(figure, svg, words); });
  });

  var figure = document.getElementById("graph");
  var panel = document.getElementById("panel");
  if (!figure || !panel) return;
  var bars = Array.prototype.slice.call(figure.querySelectorAll(".rg:not(.career) a"));
  if (!bars.length) return;
  // On their days the newest is drawn last, to lie on top: here they stand as they are seen, from left to right.
  bars = fromTheLeft(bars.reverse());
  var reach = rove(bars);
  var shown = null;
  var waiting = 0;

  function made(name, words) {
    var element = document.createElement(name);
    if (words !== undefined) element.textContent = words;
    return element;
  }

  function button(words, address) {
    var element = made("a", words);
    element.className = "plain button";
    element.href = address;
    return element;
  }

  // The moves of a game as PGN, asked for when somebody wants them.
  function pgnOf(key) {
    return fetch(panel.dataset.pgn + key + "/pgn").then(function (answer) {
      if (!answer.ok) throw new Error(answer.statusText);
      return answer.text();
    });
  }

  function actions(where, key) {
    var row = made("div");
    row.className = "actions";
    var view = button("View", where);
    view.className = "button";
    row.appendChild(view);
    var open = button("Open \u2197", where);
    open.target = "_blank";
    open.rel = "noopener";
    row.appendChild(open);
    var share = made("button", "Share");
    share.className = "plain";
    share.addEventListener("click", function () {
      var address = new URL(where, location.href).href;
      if (navigator.share) { navigator.share({ title: document.title, url: address }).catch(function () {}); return; }
      navigator.clipboard.writeText(address).then(function () { share.textContent = "Link copied"; });
    });
    row.appendChild(share);
    if (key === null) return row;
    if (panel.dataset.analyse) {
      var analyse = made("button", "Analyse");
      analyse.className = "plain";
      analyse.addEventListener("click", function () {
        pgnOf(key).then(function (pgn) {
          // Only the moves: names stay here.
          var moves = pgn.replace(/^\[.*\]\s*$/gm, "").replace(/\{[^}]*\}/g, "").replace(/\s+/g, " ").trim();
          window.open(panel.dataset.analyse.replace("{pgn}", encodeURIComponent(moves)), "_blank", "noopener");
        }).catch(function () { analyse.textContent = "No moves are kept"; });
      });
      row.appendChild(analyse);
    }
    var copy = made("button", "PGN");
    copy.className = "plain";
    copy.addEventListener("click", function () {
      pgnOf(key).then(function (pgn) { return navigator.clipboard.writeText(pgn); })
        .then(function () { copy.textContent = "PGN copied"; })
        .catch(function () { copy.textContent = "No moves are kept"; });
    });
    row.appendChild(copy);
    return row;
  }

  // The title of a bar has all that is known of its game: its first line says which, each other one "term: words".
  function show(bar) {
    if (bar === shown) return;
    shown = bar;
    var title = bar.querySelector("title");
    var lines = title ? title.textContent.split("\n") : [];
    var where = bar.getAttribute("href");
    // A key that no address can have in it leads elsewhere first: its board is shown on the page of the game.
    var key = where.indexOf(panel.dataset.game) === 0 ? where.slice(panel.dataset.game.length) : null;
    var facts = made("div");
    var head = made("h2");
    var link = made("a", lines.shift() || "");
    link.href = where;
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
    var picture = made("a");
    picture.href = where;
    picture.tabIndex = -1;
    picture.setAttribute("aria-hidden", "true");
    var board = made("img");
    board.alt = "";
    board.width = board.height = 248;
    picture.appendChild(board);
    panel.replaceChildren(picture, facts, actions(where, key));
    if (key === null) picture.remove();
    panel.hidden = false;
    window.clearTimeout(waiting);
    if (key === null) return;
    waiting = window.setTimeout(function () {
      var black = bar.parentNode.getAttribute("data-colour") === "black";
      board.src = panel.dataset.board + key + (black ? "?flipped=yes" : "");
    }, 150);
  }

  function barOf(event) {
    return event.target.closest ? event.target.closest(".rg:not(.career) a") : null;
  }

  // A first tap shows a game, a second one opens it: a finger cannot point without pressing.
  var tapped = null;
  figure.addEventListener("pointerdown", function (event) {
    tapped = event.pointerType === "touch" && barOf(event) !== shown ? barOf(event) : null;
  });
  figure.addEventListener("click", function (event) {
    var bar = barOf(event);
    if (bar === null || bar !== tapped) return;
    event.preventDefault();
    reach(bar);
    show(bar);
  });
  figure.addEventListener("mouseover", function (event) {
    var bar = barOf(event);
    if (bar) show(bar);
  });
  figure.addEventListener("focusin", function (event) {
    var bar = barOf(event);
    if (bar) show(bar);
  });
  figure.removeAttribute("tabindex");
  // Beside a second player's marks it is the player's own bars that come first.
  var first = bars.find(function (bar) { return bar.querySelector(".bar"); }) || bars[0];
  reach(first);
  show(first);
})();
