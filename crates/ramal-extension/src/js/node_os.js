import { quick } from "ramal:native";

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
export const constants = { signals: { SIGINT: 2, SIGKILL: 9, SIGTERM: 15 } };

export default { EOL, homedir, tmpdir, hostname, platform, type, arch, release, availableParallelism, cpus, userInfo, endianness, constants };
