// Search by whole words: every word of the query must be a word of the document, or its name. A
// star stands for any letters, so that "un*" finds parts of words.

const cached = new Map(); // the words of each document

export function parts(text) {
  return text.toLowerCase().split(/\s+/u).filter(Boolean);
}

function wordsOf(item) {
  if (!cached.has(item))
    cached.set(item, new Set([...item.tokens, item.query ?? "", item.name].flatMap(parts)));
  return cached.get(item);
}

function matcher(part) {
  const pieces = part.split("*").map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/gu, "\\$&"));
  return pieces.length === 1 ? null : new RegExp(`^${pieces.join(".*")}$`, "u");
}

// A test of documents and one of words, from what was typed.
export function query(typed) {
  const wanted = parts(typed).map((part) => [part, matcher(part)]);
  const has = (words, [part, pattern]) =>
    pattern ? Array.from(words).some((word) => pattern.test(word)) : words.has(part);
  return {
    empty: wanted.length === 0,
    finds: (item) => wanted.every((part) => has(wordsOf(item), part)),
    hits: (token) => wanted.some((part) => has(new Set(parts(token)), part)),
  };
}
