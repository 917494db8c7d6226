import { quick } from "ramal:native";
import { signals } from "ramal:process";

const about = () => quick("os");

export const EOL = "\n";
export const homedir = () => about().home;
export const tmpdir = () => about().temporary;
export const hostname = () => about().host;
export const platform = () => about().platform;
export const type = () => ({ linux: "Linux", darwin: "Darwin", win32: "Windows_NT" })[about().platform] ?? about().platform;
export const arch = () => about().arch;
export const release = () => about().release;
export const availableParallelism = () => about().processors;
export const cpus = () => Array.from({ length: about().processors }, () => ({ model: "", speed: 0, times: {} }));
export const userInfo = () => ({ username: about().user, homedir: about().home, shell: about().shell, uid: -1, gid: -1 });
export const endianness = () => "LE";
export const machine = () => ({ x64: "x86_64", arm64: "aarch64" })[about().arch] ?? about().arch;
export const version = () => about().release;
export const uptime = () => performance.now() / 1000;
export const loadavg = () => [0, 0, 0];
export const networkInterfaces = () => ({});
export const totalmem = () => quick("memory").total;
export const freemem = () => quick("memory").free;
export const devNull = "/dev/null";
export const constants = { signals };

export default {
  EOL, homedir, tmpdir, hostname, platform, type, arch, release, availableParallelism, cpus, userInfo, endianness, machine, version, uptime, loadavg, networkInterfaces,
  totalmem, freemem, devNull, constants,
};
