// What extensions use of the library of the terminal: texts and their width. Nothing here draws; a component
// is asked for its lines.
import { stripVTControlCharacters } from "node:util";

const wide = /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const none = /[\u0300-\u036f\u200b-\u200f\u20d0-\u20ff\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;

export function visibleWidth(text) {
  let width = 0;
  for (const char of stripVTControlCharacters(text)) width += none.test(char) ? 0 : wide.test(char) ? 2 : char === "\t" ? 3 : 1;
  return width;
}

export function truncateToWidth(text, width, ellipsis = "…", pad = false) {
  const plain = stripVTControlCharacters(text);
  const fill = (text) => (pad ? text + " ".repeat(Math.max(0, width - visibleWidth(text))) : text);
  if (visibleWidth(plain) <= width) return fill(plain);
  const room = width - visibleWidth(ellipsis);
  let out = "";
  for (const char of plain) {
    if (visibleWidth(out + char) > room) break;
    out += char;
  }
  return fill(room < 0 ? "" : out + ellipsis);
}

export function wrapTextWithAnsi(text, width) {
  const out = [];
  for (const line of stripVTControlCharacters(text).split("\n")) {
    let row = "";
    for (const word of line.split(/(?<=\s)/)) {
      if (row && visibleWidth((row + word).trimEnd()) > width) {
        out.push(row.trimEnd());
        row = "";
      }
      row += word;
      while (visibleWidth(row.trimEnd()) > width) {
        const head = truncateToWidth(row, width, "");
        if (!head) break;
        out.push(head);
        row = row.slice(head.length);
      }
    }
    out.push(row.trimEnd());
  }
  return out;
}

export class Text {
  constructor(text = "") {
    this.text = String(text);
  }
  setText(text) {
    this.text = String(text);
  }
  render(width) {
    return this.text ? wrapTextWithAnsi(this.text, width) : [];
  }
  invalidate() {}
}
export class Markdown extends Text {}
export class TruncatedText extends Text {
  render(width) {
    return [truncateToWidth(this.text.split("\n")[0], width)];
  }
}
export class Spacer {
  constructor(lines = 1) {
    this.lines = lines;
  }
  render() {
    return Array.from({ length: this.lines }, () => "");
  }
  invalidate() {}
}
export class Container {
  children = [];
  addChild(child) {
    this.children.push(child);
  }
  removeChild(child) {
    this.children = this.children.filter((one) => one !== child);
  }
  clear() {
    this.children = [];
  }
  render(width) {
    return this.children.flatMap((child) => child.render(width));
  }
  invalidate() {}
}
export class Box extends Container {}

const drawn = (name) =>
  class {
    constructor() {
      throw new Error(`${name} is not there: ramal shows texts of extensions, and nothing that they draw`);
    }
  };
export const SelectList = drawn("SelectList");
export const SettingsList = drawn("SettingsList");
export const Input = drawn("Input");
export const Editor = drawn("Editor");
export const Image = drawn("Image");
export const Loader = drawn("Loader");
export const CancellableLoader = drawn("CancellableLoader");
export const TUI = drawn("TUI");
export const ProcessTerminal = drawn("ProcessTerminal");
export const CombinedAutocompleteProvider = drawn("CombinedAutocompleteProvider");

/** Names of keys, as in keybinding files. */
export const Key = new Proxy(
  {
    ctrl: (key) => `ctrl+${key}`,
    shift: (key) => `shift+${key}`,
    alt: (key) => `alt+${key}`,
    super: (key) => `super+${key}`,
    ctrlShift: (key) => `ctrl+shift+${key}`,
    ctrlAlt: (key) => `ctrl+alt+${key}`,
    shiftCtrl: (key) => `shift+ctrl+${key}`,
    altShift: (key) => `alt+shift+${key}`,
    shiftAlt: (key) => `shift+alt+${key}`,
  },
  { get: (target, name) => target[name] ?? String(name) },
);
export const matchesKey = (data, key) => data === key;
export const parseKey = (data) => String(data);
export const isKeyRelease = () => false;
export const isKeyRepeat = () => false;
export const CURSOR_MARKER = "";
export const renderFakeCursor = (text) => String(text ?? "");
export const setKittyProtocolActive = () => {};
export const getKeybindings = () => ({ matches: () => false, getKeys: () => [] });
export const decodeKittyPrintable = () => undefined;

export function fuzzyMatch(query, text) {
  const wanted = query.toLowerCase();
  let at = 0;
  let score = 0;
  for (const char of wanted) {
    const found = text.toLowerCase().indexOf(char, at);
    if (found < 0) return { matches: false, score: 0 };
    score += found - at;
    at = found + 1;
  }
  return { matches: true, score };
}
export function fuzzyFilter(items, query, textOf = String) {
  const found = items.map((item) => [item, fuzzyMatch(query, textOf(item))]).filter(([, match]) => match.matches);
  return found.sort((one, other) => one[1].score - other[1].score).map(([item]) => item);
}

export default { visibleWidth, truncateToWidth, wrapTextWithAnsi, Text, Container, Spacer, Key };
