// The state of the view in the page's address: #doc=...&by=...&beside=...
//
// A link that is copied opens the same document under the same scores, and so does a reload.

const KEYS = ["doc", "by", "beside"];

export function readAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  return found.has("doc") ? Object.fromEntries(KEYS.map((key) => [key, found.get(key)])) : null;
}

export function writeAddress(state) {
  const known = KEYS.filter((key) => state[key] != null).map((key) => [key, state[key]]);
  history.replaceState(null, "", `#${new URLSearchParams(known)}`);
}

// Copies the address; where the browser refuses, it is shown to be copied by hand.
export async function copyAddress(show) {
  try {
    await navigator.clipboard.writeText(location.href);
    show("copied");
  } catch {
    show(location.href);
  }
}
