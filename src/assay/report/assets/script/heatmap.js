// Heat maps: a score over the words of a document.
//
// Each word is shaded by its share of the document's largest value. Values below zero take the other
// hue and a dotted line, so that the sign does not depend on color. Words that are marked as the
// reason are underlined, special tokens are framed. To a screen reader a heat map is a list box: arrow keys move from word to
// word, and each word has its number and whether it is marked in its label.

import {fillWithWords, make} from "./elements.js";
import {number} from "./numbers.js";
import {showTip} from "./tip.js";
import {ranked} from "./weights.js";

const SPECIAL = /^(\[(CLS|SEP|PAD|MASK|UNK)\]|<\/?s>|<(pad|cls|sep|bos|eos)>|<\|[a-z_]+\|>)$/u;
const NAMED_FIRST = 3; // words in the line under a heat map
let drawn = 0;

function word(text, value, largest, id, marked) {
  const share = largest > 0 && Number.isFinite(value) ? Math.abs(value) / largest : 0;
  const label = `${text}: ${number(value)}${marked ? ", marked as the reason" : ""}`;
  const part = make("span", {role: "option", id, "aria-label": label, "aria-selected": "false"},
    make("bdi", {}, text), make("sub", {"aria-hidden": "true"}, number(value)));
  if (share > 0) part.style.setProperty("--share", `${(100 * share).toFixed(1)}%`);
  if (value < 0) part.classList.add("below");
  if (marked) part.classList.add("marked");
  if (SPECIAL.test(text)) part.classList.add("special");
  return part;
}

// A line that names the words with the largest values.
function summary(tokens, values) {
  const sizes = values.map((value) => (Number.isFinite(value) ? Math.abs(value) : 0));
  const first = ranked(sizes).slice(0, NAMED_FIRST).filter((place) => sizes[place] > 0);
  const line = make("p", {class: "note largest"}, first.length ? "largest: " : "all zero");
  first.forEach((place, rank) =>
    line.append(rank ? ", " : "", make("bdi", {}, tokens[place]), ` ${number(values[place])}`));
  return line;
}

function listen(list) {
  const point = (place) => {
    for (const twin of document.querySelectorAll(".heat [aria-selected=true]"))
      twin.setAttribute("aria-selected", "false");
    for (const map of document.querySelectorAll("#reader .heat"))
      map.children[place]?.setAttribute("aria-selected", "true");
  };
  const showLabel = (part) => {
    const box = part.getBoundingClientRect();
    showTip(part.getAttribute("aria-label"), box.left, box.top);
  };
  list.addEventListener("pointerover", (event) => {
    const part = event.target.closest("[role=option]");
    if (!part) return;
    point(Array.prototype.indexOf.call(list.children, part));
    showLabel(part);
  });
  list.addEventListener("pointerleave", () => { point(-1); showTip(""); });
  list.addEventListener("blur", () => { point(-1); showTip(""); });
  list.addEventListener("keydown", (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    const now = list.querySelector("[aria-selected=true]");
    const here = now ? Array.prototype.indexOf.call(list.children, now) + step : 0;
    const place = Math.min(list.children.length - 1, Math.max(0, here));
    const part = list.children[place];
    list.setAttribute("aria-activedescendant", part.id);
    point(place);
    part.scrollIntoView({block: "nearest"});
    showLabel(part);
  });
}

// `marked` has a 1 for each word that is marked as the reason. Without it nothing is underlined.
export function heatmap(tokens, values, name, hue, marked) {
  drawn += 1;
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);
  const list = make("div", {class: `heat ${hue}`, role: "listbox", tabindex: "0",
    "aria-label": `${name}, ${tokens.length} items`});
  fillWithWords(list, tokens.flatMap((text, place) =>
    [word(text, values[place], largest, `word-${drawn}-${place}`, marked?.[place] === 1), " "]));
  listen(list);
  return [list, summary(tokens, values)];
}
