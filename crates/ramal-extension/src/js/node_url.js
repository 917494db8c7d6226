import { quick } from "ramal:native";

export const URL = globalThis.URL;
export const URLSearchParams = globalThis.URLSearchParams;
export const fileURLToPath = (url) => quick("url.to_path", String(url));
export const pathToFileURL = (path) => new URL(quick("url.from_path", String(path)));
export const format = (url) => String(url);
export const parse = (text) => new URL(text);

export default { URL, URLSearchParams, fileURLToPath, pathToFileURL, format, parse };
