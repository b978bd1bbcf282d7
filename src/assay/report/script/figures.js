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

function choose(_event, mark) {
  const id = mark?.datum?.instance;
  if (id != null) document.dispatchEvent(new CustomEvent("open-document", {detail: id}));
}

async function draw(place) {
  const picture = place.querySelector("img");
  const drawing = document.createElement("div");
  const definition = JSON.parse(place.querySelector("script").textContent);
  const {view} = await vegaEmbed(drawing, definition, settings);
  view.addEventListener("click", choose);
  const image = document.createElement("div"); // the drawing's own role would read out every mark
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
