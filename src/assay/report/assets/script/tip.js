// What stands beside the pointer? The number of what it points at, as text.

const GAP = 12; // pixels between pointer and words

const tip = document.querySelector(".tip") ?? document.createElement("div"); // one for all scripts
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

export function tell(words, x, y) {
  tip.hidden = !words;
  if (!words) return;
  tip.textContent = words;
  const room = document.documentElement.clientWidth - tip.offsetWidth - GAP;
  const above = y - tip.offsetHeight - GAP;
  tip.style.left = `${Math.max(GAP, Math.min(x + GAP, room))}px`;
  tip.style.top = `${above < 0 ? y + GAP : above}px`;
}
