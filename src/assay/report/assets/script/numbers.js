// Numbers as on the rest of the page: three decimals, and nothing small is written as zero.

const MINUS = "\u2212";
export const NOTHING = "\u2013";

export function number(value, places = 3) {
  if (value == null || !Number.isFinite(value)) return NOTHING;
  const size = Math.abs(value);
  const sign = value < 0 ? MINUS : "";
  if (size > 0 && size < 0.5 * 10 ** -places)
    return (value > 0 ? "<" : `>${MINUS}`) + (10 ** -places).toFixed(places);
  return sign + size.toFixed(places);
}

export function count(value) {
  return value.toLocaleString("en-GB");
}
