export * from "node:path";
export { default } from "node:path";
