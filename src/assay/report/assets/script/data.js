// The documents in the page, unpacked when they are first opened.
//
// Weights and logits are floats in base64, exact enough to compute with. Other scores are shares
// of the document's largest value, in 16 bits.

import {named} from "./elements.js";

const FULL = 32767;
const MISSING = -32768;
const KINDS = {f4: Float32Array, f8: Float64Array}; // little-endian, as on every browser's machine

export const data = JSON.parse(named("documents-data").textContent);
export const everything = data.documents;
for (const item of everything) { // what need not be written down for every document
  const keys = Object.fromEntries(data.keys.map((key, place) => [key, item.keys[place]]));
  keys.confidence = item.probabilities.length ? Math.max(...item.probabilities) : null;
  keys.length = item.tokens.length;
  item.keys = keys;
}

const OURS = {attention: "attention", adversary: "alternative weights, same prediction",
  difference: "difference (alternative \u2212 attention)"};

const unpacked = new Map();

function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

function floats(text, format) {
  return Float64Array.from(new KINDS[format](bytes(text)));
}

function shares([largest, text]) {
  return Float64Array.from(new Int16Array(bytes(text)), (whole) =>
    whole === MISSING ? NaN : (whole / FULL) * largest);
}

function unpack(item) {
  const values = {};
  for (const [name, text] of Object.entries(item.weights)) values[name] = floats(text, item.format);
  if (values.adversary)
    values.difference = values.adversary.map((weight, place) => weight - values.attention[place]);
  Object.keys(data.scores).forEach((name, place) => { // 0: the document has no such score
    if (item.scores[place]) values[name] = shares(item.scores[place]);
  });
  const affine = item.logits
    && {logits: floats(item.logits, item.format), bias: floats(item.bias, item.format)};
  return {...item, values, affine};
}

export function opened(item) {
  if (!unpacked.has(item)) unpacked.set(item, unpack(item));
  return unpacked.get(item);
}

export function find(place) {
  return everything.find((item) => item.place === place);
}

// Every score that some document has, in the order of the controls.
export function scoreNames() {
  const {gradient, leave_one_out, ...others} = data.scores;
  const some = everything.some((item) => item.weights.adversary);
  const alternative = some ? {adversary: OURS.adversary, difference: OURS.difference} : {};
  const usual = {attention: OURS.attention, gradient, leave_one_out, ...alternative, ...others};
  return Object.fromEntries(Object.entries(usual).filter(([, name]) => name));
}
