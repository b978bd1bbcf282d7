// Bars over the words that set a weight by pointer or keys.
//
// The height of a bar is the weight, its thin line the model's own weight; a full bar is `full`.
// While a bar is dragged the scale stays, so that nothing jumps under the pointer.

import {make} from "./elements.js";
import {number} from "./numbers.js";
import {showTip} from "./tip.js";

const SMALL = 0.01;
const LARGE = 0.1;

export function dial(text, place) {
  return make("span", {class: "dial", role: "slider", tabindex: place ? "-1" : "0",
    "aria-label": `weight of ${text}`, "aria-valuemin": "0", "aria-valuemax": "1",
    "aria-valuenow": "0", "aria-orientation": "vertical"},
    make("span", {class: "bar"}), make("bdi", {}, text));
}

function percent(weight, full) {
  return `${(100 * Math.min(1, weight / full)).toFixed(2)}%`;
}

export function drawBars(words, weights, full) {
  weights.forEach((weight, place) => {
    words.children[place].firstChild.style.backgroundSize = `100% ${percent(weight, full)}`;
  });
}

// Updates what changes only when a weight is settled: the model's own weights on the new scale, and
// the texts for screen readers.
export function settle(words, weights, own, full) {
  weights.forEach((weight, place) => {
    const part = words.children[place];
    part.firstChild.style.setProperty("--own", percent(own[place], full));
    part.setAttribute("aria-valuenow", weight.toFixed(4));
    part.setAttribute("aria-valuetext", number(weight));
  });
}

// `control.read(place)` and `control.full()` give the state, `control.set(place, weight, settled)`
// changes it; a weight is settled when the bar is released.
export function listenToDials(words, control) {
  const placeOf = (target) => Array.prototype.indexOf.call(words.children, target.closest(".dial"));

  function show(place) {
    const part = words.children[place];
    const box = part.getBoundingClientRect();
    showTip(`${part.lastChild.textContent}: ${number(control.read(place))}`, box.left, box.top);
  }

  function drag(event) {
    const bar = event.target;
    if (!bar.classList.contains("bar")) return;
    event.preventDefault();
    const place = placeOf(bar);
    words.children[place].focus({preventScroll: true});
    const box = bar.getBoundingClientRect();
    let height = event.clientY;
    let waiting = 0;
    const follow = (settled) => {
      waiting = 0;
      control.set(place, (control.full() * (box.bottom - height)) / box.height, settled);
      show(place);
    };
    const move = (next) => {
      height = next.clientY;
      waiting ||= requestAnimationFrame(() => follow(false));
    };
    bar.setPointerCapture(event.pointerId);
    bar.addEventListener("pointermove", move);
    bar.addEventListener("lostpointercapture", () => {
      cancelAnimationFrame(waiting);
      bar.removeEventListener("pointermove", move);
      follow(true);
    }, {once: true});
    follow(false);
  }

  function press(event) {
    const place = placeOf(event.target);
    if (place < 0) return;
    const weight = control.read(place);
    const value = {ArrowUp: weight + SMALL, ArrowDown: weight - SMALL, PageUp: weight + LARGE,
      PageDown: weight - LARGE, Home: 0, End: 1}[event.key];
    const other = {ArrowRight: place + 1, ArrowLeft: place - 1}[event.key];
    if (value === undefined && other === undefined) return;
    event.preventDefault();
    if (value !== undefined) control.set(place, value, true);
    const next = words.children[other] ? other : place;
    words.children[next].focus();
    show(next);
  }

  function keepOneTabStop(event) {
    words.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    event.target.closest(".dial").setAttribute("tabindex", "0");
  }

  words.addEventListener("pointerdown", drag);
  words.addEventListener("keydown", press);
  words.addEventListener("focusin", keepOneTabStop);
  words.addEventListener("focusout", () => showTip(""));
  words.addEventListener("pointerover", ({target}) => placeOf(target) >= 0 && show(placeOf(target)));
  words.addEventListener("pointerleave", () => showTip(""));
}
