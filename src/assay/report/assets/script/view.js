// The document view when the page opens, when a point of a figure is clicked, and before printing.

import {everything, find} from "./data.js";
import {named} from "./elements.js";
import {open, step} from "./list.js";
import {showTip} from "./tip.js";

named("view").hidden = everything.length === 0;
step(0);

named("next").addEventListener("click", () => step(1));
named("previous").addEventListener("click", () => step(-1));

document.addEventListener("open-document", (event) => {
  const {place, x, y} = event.detail;
  const item = find(place);
  if (!item) return showTip("This document was left out to keep the page small.", x, y);
  open(item);
  named("reader-title").focus({preventScroll: true});
  named("reader").scrollIntoView({block: "start"});
});

// On paper nothing can be opened.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
