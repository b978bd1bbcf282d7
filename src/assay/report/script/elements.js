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

export function fill(place, ...children) {
  place.replaceChildren(...children.filter((child) => child != null));
}
