// What happens when the page opens, when a figure's point is chosen, and before it is printed?

import {everything, find} from "./data.js";
import {named} from "./elements.js";
import {open, turn} from "./list.js";
import {tell} from "./tip.js";

named("view").hidden = everything.length === 0;
turn(0);

named("next").addEventListener("click", () => turn(1));
named("previous").addEventListener("click", () => turn(-1));

document.addEventListener("open-document", (event) => {
  const {place, x, y} = event.detail;
  const item = find(place);
  if (!item) return tell("This document was left out to keep the page small.", x, y);
  open(item);
  named("reader-title").focus({preventScroll: true});
  named("reader").scrollIntoView({block: "start"});
});

// Paper has no way to open what is closed.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
