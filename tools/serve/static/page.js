// What pages do beside what they say without it: times as the reader's clock has them.
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
})();
