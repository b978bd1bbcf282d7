// What does a reader see who points at a figure, or chooses a point in it?
//
// Each figure stands in the page twice: as a picture, for readers without script and on paper, and
// as a definition in JSON, which is drawn here when it comes near the window. Expressions are
// interpreted, never compiled, so that the page's policy can forbid `eval`.

import {tell} from "./tip.js";

const NEAR = "400px"; // how far below the window a figure is drawn already

const settings = {
  ast: true, actions: false, renderer: "svg", defaultStyle: false,
  tooltip: (_handler, event, _item, words) =>
    tell(words == null ? "" : String(words), event.clientX, event.clientY),
};

function choose({clientX: x, clientY: y}, mark) {
  const place = mark?.datum?.place;
  if (place == null) return;
  document.dispatchEvent(new CustomEvent("open-document", {detail: {place, x, y}}));
}

async function draw(place) {
  const picture = place.querySelector("img");
  const drawing = document.createElement("div");
  const definition = JSON.parse(place.querySelector("script").textContent);
  const {view} = await vegaEmbed(drawing, definition, settings);
  view.addEventListener("click", choose);
  drawing.setAttribute("aria-hidden", "true"); // it would read out every mark by itself
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
