// Live figures: tooltips, and points that open their document.
//
// Each figure is in the page twice: as a picture, for readers without script and on paper, and as a
// definition in JSON, which is drawn here when it comes near the window. Expressions are interpreted,
// never compiled, so that the page's policy can forbid `eval`.

import {showTip} from "./tip.js";

const NEAR = "400px"; // the distance from the window at which a figure is drawn

const settings = {
  ast: true, actions: false, renderer: "svg", defaultStyle: false,
  tooltip: (_handler, event, _item, text) =>
    showTip(text == null ? "" : String(text), event.clientX, event.clientY),
};

function openDocument({clientX: x, clientY: y}, mark) {
  const place = mark?.datum?.place;
  if (place == null) return;
  document.dispatchEvent(new CustomEvent("open-document", {detail: {place, x, y}}));
}

async function draw(place) {
  const picture = place.querySelector("img");
  const drawing = document.createElement("div");
  const definition = JSON.parse(place.querySelector("script").textContent);
  const {view} = await vegaEmbed(drawing, definition, settings);
  view.addEventListener("click", openDocument);
  drawing.setAttribute("aria-hidden", "true"); // a screen reader would read out every mark
  const image = document.createElement("div");
  image.setAttribute("role", "img");
  image.setAttribute("aria-label", picture.alt);
  image.append(drawing);
  picture.replaceWith(image);
}

const near = new IntersectionObserver((seen) => {
  for (const {isIntersecting, target} of seen)
    if (isIntersecting) {
      near.unobserve(target);
      draw(target);
    }
}, {rootMargin: NEAR});
for (const place of document.querySelectorAll(".chart")) near.observe(place);
