import { promises } from "node:fs";

export const {
  readFile, writeFile, appendFile, truncate, stat, lstat, access, readdir, mkdir, rm, unlink, rmdir, rename, copyFile, realpath, mkdtemp, chmod,
  symlink, readlink, utimes, watch, constants,
} = promises;
export default promises;
