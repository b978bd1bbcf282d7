// Files of single figures and tables, made in the page itself: nothing is requested.
//
// A figure becomes SVG, PNG or CSV, a table CSV or LaTeX, with the same content as the files of
// `assay report DIR --figures` (see `figure_data.py` and `page_tables.py`).

import {make, named} from "./elements.js";

const PIXELS = 3; // of a PNG, for each pixel of the drawing: about 290 per inch
const CHANNELS = ["x", "x2", "y", "y2"];
const COLUMNS = ["panel", "mark", "x_axis", "y_axis", ...CHANNELS, "description"];
const DARK_SCHEME = /@media\(prefers-color-scheme:dark\)\{(?:[^{}]*\{[^}]*\})*\}/;
const NUMBER = /^-[\d.,]+( \[[-<>\d., ]*\])?$/; // also with an interval
const letters = JSON.parse(named("latex-letters").textContent);

function save(name, blob) {
  const address = URL.createObjectURL(blob);
  make("a", {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function saveText(name, text, kind) {
  save(name, new Blob([text], {type: `${kind};charset=utf-8`}));
}

// CSV. Text that a spreadsheet would take for a formula begins with an apostrophe.

function csvCell(value) {
  const text = String(value);
  const acts = typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text);
  const safe = acts ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv(rows) {
  return rows.map((row) => row.map(csvCell).join(",") + "\n").join("");
}

// Figures

function titleText(title) {
  const text = title?.text ?? title ?? "";
  return Array.isArray(text) ? text.join(" ") : text;
}

function* marks(part, datasets, above = {}) {
  const data = part.data ?? above.data;
  const title = titleText(part.title) || (above.title ?? "");
  const encoding = {...above.encoding, ...part.encoding};
  for (const inner of [...part.vconcat ?? [], ...part.hconcat ?? [], ...part.layer ?? []])
    yield* marks(inner, datasets, {data, title, encoding});
  if (!part.mark) return;
  const axes = ["x", "y"].map((axis) => titleText(encoding[axis]?.title));
  for (const row of data?.values ?? datasets[data?.name] ?? []) {
    const places = CHANNELS.map((channel) => encoding[channel]).map((at) =>
      (at?.field ? row[at.field] : at?.datum) ?? "");
    const says = String(row.tooltip ?? "").replace(/; click to open it$/, "");
    yield [title, part.mark.type ?? part.mark, ...axes, ...places, says];
  }
}

function figureCsv(definition) {
  return csv([COLUMNS, ...marks(definition, definition.datasets ?? {})]);
}

function drawing(image) {
  return decodeURIComponent(image.slice(image.indexOf(",") + 1)).replace(DARK_SCHEME, "");
}

async function savePng(name, svg) {
  const picture = new Image();
  picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await picture.decode();
  const canvas = make("canvas", {width: picture.width * PIXELS, height: picture.height * PIXELS});
  const paper = canvas.getContext("2d");
  paper.fillStyle = "white";
  paper.fillRect(0, 0, canvas.width, canvas.height);
  paper.drawImage(picture, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(name, blob), "image/png");
}

// Tables

function tableRows(table) {
  return [...table.rows].map((row) => [...row.cells].map((one) => ({
    text: one.textContent.trim().replace(/\s+/g, " "), span: one.colSpan})));
}

function tableCsv(rows) {
  const plain = (text) => (text === "\u2013" ? "" : text.replaceAll("\u2212", "-"));
  return csv(rows.map((row) => row.flatMap(({text, span}) =>
    [plain(text), ...Array(span - 1).fill("")])));
}

function latex(text) {
  const known = (letter) => letter <= "\x7f" || (letter >= "À" && letter <= "ÿ" && !"ÐÞðþ÷".includes(letter));
  const code = (letter) => letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return [...text.normalize("NFC")].map((letter) =>
    letters[letter] ?? (known(letter) ? letter : `[U+${code(letter)}]`)).join("");
}

function latexLine(row) {
  const line = row.map(({text, span}) => span === 1 ? latex(text)
    : `\\multicolumn{${span}}{@{}l}{${latex(text)}}`).join(" & ") + " \\\\";
  return /^[[*]/.test(line) ? `{}${line}` : line; // else it is an argument of the row's end above
}

function tableLatex(rows, number, label) {
  const width = Math.max(...rows.map((row) => row.reduce((sum, {span}) => sum + span, 0)));
  return ["% In the preamble: \\usepackage{booktabs}", "\\begin{table}", "\\centering\\footnotesize",
    `\\caption{${latex(label)}}`, `\\label{tab:assay-page-${number}}`,
    `\\begin{tabular}{@{}l${"r".repeat(width - 1)}@{}}`, "\\toprule", latexLine(rows[0]), "\\midrule",
    ...rows.slice(1).map(latexLine), "\\bottomrule", "\\end{tabular}", "\\end{table}", ""].join("\n");
}

// Buttons

function buttons(what, files) {
  const place = make("span", {class: "files", role: "group", "aria-label": `Files of ${what}`});
  for (const [kind, write] of Object.entries(files)) {
    const button = make("button", {type: "button", "aria-label": `${what} as ${kind}`}, kind);
    button.addEventListener("click", write);
    place.append(button);
  }
  return place;
}

function addToFigure(figure) {
  const chart = figure.querySelector(".chart");
  const image = chart.querySelector("img").src; // the live drawing will take its place
  const name = figure.id.replace(/^figure-/, "");
  const link = figure.querySelector(".number");
  link.after(" ", buttons(link.textContent, {
    SVG: () => saveText(`${name}.svg`, drawing(image), "image/svg+xml"),
    PNG: () => savePng(`${name}.png`, drawing(image)),
    CSV: () => saveText(`${name}.csv`,
      figureCsv(JSON.parse(chart.querySelector("script").textContent)), "text/csv"),
  }));
}

function addToTable(place) {
  const table = place.nextElementSibling.querySelector("table");
  const number = place.id.replace(/^table-/, "");
  const label = place.querySelector("span").textContent.trim().replace(/\s+/g, " ");
  place.append(" ", buttons(`Table ${number}`, {
    CSV: () => saveText(`${place.id}.csv`, tableCsv(tableRows(table)), "text/csv"),
    LaTeX: () => saveText(`${place.id}.tex`, tableLatex(tableRows(table), number, label), "text/x-tex"),
  }));
}

for (const figure of document.querySelectorAll("figure.plate")) addToFigure(figure);
for (const place of document.querySelectorAll(".numbered")) addToTable(place);
