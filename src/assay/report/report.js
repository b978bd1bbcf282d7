// What does a reader see who points at a figure? The number under the pointer, as text.
//
// Each figure stands in the page twice: as a picture, for readers without script and on paper, and
// as a definition in JSON, which is drawn here. Expressions are interpreted, never compiled, so
// that the page's policy can forbid `eval`.

const GAP = 12; // pixels between pointer and words

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

function tell(_handler, event, _item, words) {
  tip.hidden = words == null || words === "";
  if (tip.hidden) return;
  tip.textContent = String(words);
  const room = document.documentElement.clientWidth - tip.offsetWidth - GAP;
  const above = event.clientY - tip.offsetHeight - GAP;
  tip.style.left = `${Math.max(GAP, Math.min(event.clientX + GAP, room))}px`;
  tip.style.top = `${above < 0 ? event.clientY + GAP : above}px`;
}

const settings = {ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: tell};

async function draw(place) {
  const picture = place.querySelector("img");
  const drawing = document.createElement("div");
  await vegaEmbed(drawing, JSON.parse(place.querySelector("script").textContent), settings);
  const image = document.createElement("div"); // the drawing's own role would read out every mark
  image.setAttribute("role", "img");
  image.setAttribute("aria-label", picture.alt);
  image.append(drawing);
  picture.replaceWith(image);
}

for (const place of document.querySelectorAll(".chart")) draw(place);
