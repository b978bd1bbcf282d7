// Live figures: tooltips, and points that open their document or search for their word.
//
// Each figure is in the page twice: as a picture, for readers without script and on paper, and as a
// definition in JSON, which is drawn here when it comes near the window. Expressions are interpreted,
// never compiled, so that the page's policy can forbid `eval`. With the keyboard, arrows move from
// point to point and Enter chooses one.

import {showTip} from "./tip.js";

const NEAR = "400px"; // the distance from the window at which a figure is drawn
const here = {places: null}; // the documents in this page
document.dispatchEvent(new CustomEvent("which-documents", {detail: here}));

const settings = {
  config: JSON.parse(document.getElementById("figure-config").textContent),
  ast: true, actions: false, renderer: "svg", defaultStyle: false,
  tooltip: (_handler, event, _item, text) =>
    showTip(text == null ? "" : String(text), event.clientX, event.clientY),
};

function send(name, detail) {
  document.dispatchEvent(new CustomEvent(name, {detail}));
}

function choose(row, from, x, y) {
  if (row?.word != null) send("search-documents", {word: row.word, from});
  else if (row?.place != null) send("open-document", {place: row.place, x, y, from});
}

// Marks the rows whose document is not in the page.
function markGone(part) {
  if (Array.isArray(part)) part.forEach(markGone);
  else if (part && typeof part === "object") {
    if (typeof part.place === "number" && here.places && !here.places.has(part.place)) part.gone = true;
    Object.values(part).forEach(markGone);
  }
}

function isPoint(mark) {
  const row = mark.__data__?.datum;
  return row && (row.place != null || row.word != null);
}

// Arrow keys move over the points from left to right.
function listenToKeys(image) {
  const middle = (mark) => mark.getBoundingClientRect();
  const points = () => Array.from(image.querySelectorAll(".mark-symbol path")).filter(isPoint)
    .sort((a, b) => middle(a).x - middle(b).x || middle(a).y - middle(b).y);
  let [all, now] = [[], -1];
  const leave = () => { all[now]?.classList.remove("chosen"); showTip(""); };
  image.addEventListener("focus", () => { [all, now] = [points(), -1]; });
  image.addEventListener("blur", leave);
  image.addEventListener("keydown", (event) => {
    const {x, y} = all[now] ? middle(all[now]) : {};
    if (event.key === "Enter" && all[now]) choose(all[now].__data__.datum, image.closest("figure"), x, y);
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (!step || !all.length) return;
    event.preventDefault();
    leave();
    now = Math.min(all.length - 1, Math.max(0, now + step));
    all[now].classList.add("chosen");
    const box = middle(all[now]);
    const text = all[now].__data__.tooltip ?? "";
    showTip(String(text), box.x, box.y);
    image.querySelector("[aria-live]").textContent = String(text);
  });
}

// A figure that is wider than its place keeps its size and scrolls, also by keyboard.
function keepLegible(place, picture) {
  picture.style.minWidth = `${picture.viewBox.baseVal.width}px`;
  if (place.scrollWidth <= place.clientWidth) return;
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", "Figure that scrolls sideways");
  place.setAttribute("tabindex", "0");
}

async function draw(place) {
  const picture = place.querySelector("img");
  const drawing = document.createElement("div");
  const definition = JSON.parse(place.querySelector("script").textContent);
  markGone(definition);
  const {view} = await vegaEmbed(drawing, definition, settings);
  view.addEventListener("click", ({clientX: x, clientY: y}, mark) =>
    choose(mark?.datum, place.closest("figure"), x, y));
  drawing.setAttribute("aria-hidden", "true"); // a screen reader would read out every mark
  const image = document.createElement("div");
  image.setAttribute("role", "img");
  image.setAttribute("aria-label", picture.alt);
  image.append(drawing);
  picture.replaceWith(image);
  keepLegible(place, drawing.querySelector("svg"));
  if (Array.from(drawing.querySelectorAll(".mark-symbol path")).some(isPoint)) {
    image.setAttribute("role", "application");
    image.setAttribute("aria-label", `${picture.alt} Arrow keys move from point to point, Enter chooses one.`);
    image.setAttribute("tabindex", "0");
    const spoken = document.createElement("span");
    spoken.className = "unseen";
    spoken.setAttribute("aria-live", "polite");
    image.append(spoken);
    listenToKeys(image);
  }
}

const near = new IntersectionObserver((seen) => {
  for (const {isIntersecting, target} of seen)
    if (isIntersecting) {
      near.unobserve(target);
      draw(target);
    }
}, {rootMargin: NEAR});
for (const place of document.querySelectorAll(".chart")) near.observe(place);
