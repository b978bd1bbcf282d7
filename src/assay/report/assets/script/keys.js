// Keyboard shortcuts while the focus is in the document view. The page lists them.

import {named} from "./elements.js";
import {step} from "./list.js";
import {keepAddress, scoreOrder, shade} from "./reader.js";
import {attempt} from "./whatif.js";

const ACTIONS = {
  n: () => step(1),
  p: () => step(-1),
  "/": () => named("search").focus(),
  s: () => attempt("shuffle"),
  u: () => attempt("uniform"),
  e: () => attempt("erase"),
  a: () => attempt("adversary"),
  r: () => attempt("reset"),
};

function isTyping(target) {
  return target.matches("input[type=search], input[type=number], select");
}

named("view").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const score = scoreOrder[Number(event.key) - 1];
  const action = ACTIONS[event.key] ?? (score && (() => shade(score)));
  if (!action) return;
  event.preventDefault();
  action();
  keepAddress();
});
