// The document view when the page opens, when a figure asks for a document, and before printing.

import {readAddress} from "./address.js";
import {everything, find} from "./data.js";
import {named} from "./elements.js";
import {open, searchFor, step} from "./list.js";
import {keepAddress, putBeside, scoreOrder, shade} from "./reader.js";
import {showTip} from "./tip.js";

let figure = null; // where the reader came from

// Opens what the address asks for; false if it asks for no document of this page.
function follow(asked) {
  const item = asked && everything.find((one) => one.name === asked.doc);
  if (!item) return false;
  open(item);
  if (scoreOrder.includes(asked.by)) shade(asked.by);
  if (asked.beside === "" || scoreOrder.includes(asked.beside)) putBeside(asked.beside);
  named("reader").scrollIntoView({block: "start"});
  return true;
}

function goTo(place) {
  named("reader-title").focus({preventScroll: true});
  place.scrollIntoView({block: "start"});
}

named("view").hidden = everything.length === 0;
if (everything.length && !follow(readAddress())) open(everything[0]);
addEventListener("hashchange", () => follow(readAddress()));

for (const [button, by] of [["next", 1], ["previous", -1]])
  named(button).addEventListener("click", () => { step(by); keepAddress(); });
named("list").addEventListener("click", keepAddress);
named("search").addEventListener("keydown", (event) => { if (event.key === "Enter") keepAddress(); });

document.addEventListener("open-document", (event) => {
  const {place, x, y, from} = event.detail;
  const item = find(place);
  if (!item) return showTip("This document was left out to keep the page small.", x, y);
  figure = from;
  named("back").hidden = !figure;
  open(item);
  keepAddress();
  goTo(named("reader"));
});
document.addEventListener("search-documents", ({detail: {word, from}}) => {
  figure = from;
  named("back").hidden = !figure;
  searchFor(word);
  keepAddress();
  goTo(named("documents"));
});
// Figures ask which documents are here, to draw the points of the others hollow.
document.addEventListener("which-documents", ({detail}) => {
  detail.places = new Set(everything.map((item) => item.place));
});
named("back").addEventListener("click", () => {
  const target = figure?.querySelector("[tabindex]") ?? figure;
  target.focus({preventScroll: true});
  figure.scrollIntoView({block: "center"});
});
