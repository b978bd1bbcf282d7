// The tooltip beside the pointer, as text.

const GAP = 12; // pixels between pointer and text

const tip = document.querySelector(".tip") ?? document.createElement("div"); // one for all scripts
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

export function showTip(text, x, y) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const room = document.documentElement.clientWidth - tip.offsetWidth - GAP;
  const above = y - tip.offsetHeight - GAP;
  tip.style.left = `${Math.max(GAP, Math.min(x + GAP, room))}px`;
  tip.style.top = `${above < 0 ? y + GAP : above}px`;
}
