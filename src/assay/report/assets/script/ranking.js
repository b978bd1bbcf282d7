// Kendall's tau-b between two lists, with signed values counted by their size, as in the evidence.

export function kendall(one, other) {
  const [a, b] = [one, other].map((values) => values.map(Math.abs));
  let [agree, tiedA, tiedB] = [0, 0, 0];
  for (let i = 1; i < a.length; i += 1)
    for (let j = 0; j < i; j += 1) {
      const [x, y] = [Math.sign(a[i] - a[j]), Math.sign(b[i] - b[j])];
      agree += x * y;
      tiedA += x === 0;
      tiedB += y === 0;
    }
  const pairs = (a.length * (a.length - 1)) / 2;
  const scale = Math.sqrt((pairs - tiedA) * (pairs - tiedB));
  return scale > 0 ? agree / scale : NaN; // none for a constant list or a single item
}
