// What does the page know of each document?
//
// Weights and logits are floats in base64, exact enough to compute with. Other scores are shares
// of the document's largest, in 16 bits. Both are unpacked when a document is first opened.

import {named} from "./elements.js";

const FULL = 32767;
const MISSING = -32768;
const KINDS = {f4: Float32Array, f8: Float64Array}; // little-endian, as every browser's machine is

export const held = JSON.parse(named("documents-data").textContent);
export const everything = held.documents;

const OURS = {attention: "attention", adversary: "other weights, same prediction",
  difference: "difference (other \u2212 attention)"};

const unpacked = new Map();

function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

function floats(text) {
  return Float64Array.from(new KINDS[held.format](bytes(text)));
}

function shares([largest, text]) {
  return Float64Array.from(new Int16Array(bytes(text)), (whole) =>
    whole === MISSING ? NaN : (whole / FULL) * largest);
}

function unpack(item) {
  const values = {};
  for (const [name, text] of Object.entries(item.weights)) values[name] = floats(text);
  if (values.adversary)
    values.difference = values.adversary.map((weight, place) => weight - values.attention[place]);
  for (const [name, packed] of Object.entries(item.scores)) values[name] = shares(packed);
  const affine = item.logits && {logits: floats(item.logits), bias: floats(item.bias)};
  return {...item, values, affine};
}

export function opened(item) {
  if (!unpacked.has(item)) unpacked.set(item, unpack(item));
  return unpacked.get(item);
}

export function find(place) {
  return everything.find((item) => item.place === place);
}

// Every score that some document has, in the order in which the page offers them.
export function scoreNames() {
  const {gradient, leave_one_out, ...others} = held.scores;
  const some = everything.some((item) => item.weights.adversary);
  const rivals = some ? {adversary: OURS.adversary, difference: OURS.difference} : {};
  const usual = {attention: OURS.attention, gradient, leave_one_out, ...rivals, ...others};
  return Object.fromEntries(Object.entries(usual).filter(([, name]) => name));
}
