// Elements of the page. Text always enters as text, never as markup.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child != null));
  return element;
}

export function named(id) {
  return document.getElementById(id);
}

// Fills an element with the words of a document, in the direction of the first word that has one.
// The browser determines the direction again for every child, so `dir` is set when all are there.
export function fillWithWords(place, words) {
  place.removeAttribute("dir");
  place.replaceChildren(...words);
  place.setAttribute("dir", "auto");
}

export function fill(place, ...children) {
  place.replaceChildren(...children.filter((child) => child != null));
}
