"use strict";
(function () {
  var root = document.documentElement, button = document.getElementById("theme"), tip = document.getElementById("tip");
  function dark() {
    var chosen = root.getAttribute("data-theme");
    return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function label() {
    button.textContent = dark() ? "Light theme" : "Dark theme";
    button.setAttribute("aria-pressed", String(dark()));
  }
  button.addEventListener("click", function () {
    root.setAttribute("data-theme", dark() ? "light" : "dark");
    label();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();

  // The browser shows <title> late and not on touch: the page shows the same words at once.
  document.querySelectorAll("svg title").forEach(function (title) {
    var shape = title.parentNode;
    if (shape.tagName.toLowerCase() !== "svg") {
      shape.setAttribute("data-tip", title.textContent);
      title.remove();
    } else {
      shape.removeAttribute("aria-labelledby");
      var words = shape.querySelector("desc");
      shape.setAttribute("aria-label", title.textContent + (words ? ". " + words.textContent : ""));
      shape.setAttribute("data-name", title.textContent);
      title.remove();
    }
  });
  function hide() { tip.hidden = true; }
  function show(event) {
    var shape = event.target.closest ? event.target.closest("[data-tip]") : null;
    if (!shape) { return hide(); }
    tip.textContent = shape.getAttribute("data-tip");
    tip.hidden = false;
    var x = event.clientX + 14, y = event.clientY + 16;
    tip.style.left = Math.max(4, Math.min(x, window.innerWidth - tip.offsetWidth - 6)) + "px";
    tip.style.top = (y + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 10 : y) + "px";
  }
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") { hide(); } });

  function save(name, type, text) {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: type }));
    link.download = name;
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  }
  function standalone(svg) {
    var copy = svg.cloneNode(true), space = "http://www.w3.org/2000/svg";
    function child(parent, kind, text) {
      var element = document.createElementNS(space, kind);
      element.textContent = text;
      parent.insertBefore(element, parent.firstChild);
    }
    copy.querySelectorAll("[data-tip]").forEach(function (shape) {
      child(shape, "title", shape.getAttribute("data-tip"));
      shape.removeAttribute("data-tip");
    });
    child(copy, "title", copy.getAttribute("data-name"));
    child(copy, "style", JSON.parse(document.getElementById("figure-style").textContent));
    return new XMLSerializer().serializeToString(copy);
  }
  document.addEventListener("click", function (event) {
    var kind = event.target.getAttribute && event.target.getAttribute("data-save");
    if (!kind) { return; }
    var block = event.target.closest("figure, .table");
    if (kind === "svg") {
      save(block.id + ".svg", "image/svg+xml", standalone(block.querySelector("svg")));
    } else {
      save(block.id + ".csv", "text/csv;charset=utf-8", JSON.parse(block.querySelector(".numbers").textContent));
    }
  });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (details) { details.open = true; });
  });
})();
