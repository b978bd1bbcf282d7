// How does text become part of the page? As text: never as markup, whatever it holds.

export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child != null));
  return made;
}

export function named(id) {
  return document.getElementById(id);
}

// Words of a document, in the direction of the first that has one. The browser looks for it anew
// with every child it gets, so it is asked only when all are there.
export function fillWithWords(place, words) {
  place.removeAttribute("dir");
  place.replaceChildren(...words);
  place.setAttribute("dir", "auto");
}

export function fill(place, ...children) {
  place.replaceChildren(...children.filter((child) => child != null));
}
